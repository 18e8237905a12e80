// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.ConductorConfig.Entry;
import io.kvindex.model.PublisherId;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers what the configuration file or {@code --workers} names, through the process's own
 * {@code POST /register}: so an entry means exactly what a request with the same members means. It
 * wins over what was registered before; nothing is unregistered because no entry names it.
 */
final class StaticRegistrations {

  private static final Logger LOG = LoggerFactory.getLogger(StaticRegistrations.class);

  /** Longer than a registration may take. */
  private static final Duration ANSWER = Duration.ofSeconds(15);

  /** Kafka may be slow while everything starts; a registration is safe to send again. */
  private static final int ATTEMPTS = 3;

  private static final int OK = 200;
  private static final int CREATED = 201;
  private static final int CONFLICT = 409;
  private static final int UNAVAILABLE = 503;

  private final HttpClient http = HttpClient.newHttpClient();
  private final URI register;

  /** Publishers this file has spoken for: a second entry about one must not undo the first. */
  private final Set<PublisherId> registered = new HashSet<>();

  private StaticRegistrations(URI server) {
    register = server.resolve("/register");
  }

  /**
   * Registers the entries in their order. One that is refused is logged and skipped.
   *
   * @throws IllegalStateException if the server does not answer at all
   */
  static void apply(URI server, List<Entry> entries) throws InterruptedException {
    StaticRegistrations all = new StaticRegistrations(server);
    int done = 0;
    for (Entry entry : entries) {
      if (all.upsert(entry)) {
        done++;
      }
    }
    if (!entries.isEmpty()) {
      LOG.info("registered {} of {} entries of the configuration", done, entries.size());
    }
  }

  private boolean upsert(Entry entry) throws InterruptedException {
    PublisherId publisher = publisher(entry.body());
    HttpResponse<String> answer = post(entry.body());
    if (answer.statusCode() == CONFLICT && !registered.contains(publisher)) {
      LOG.warn(
          "configured entry {} differs from what is registered and wins: {}",
          entry.name(),
          answer.body());
      answer = post(entry.body().deepCopy().put("replace", true));
    }
    if (answer.statusCode() != OK && answer.statusCode() != CREATED) {
      LOG.warn(
          "skipped configured entry {}: {} {}", entry.name(), answer.statusCode(), answer.body());
      return false;
    }
    registered.add(publisher);
    return true;
  }

  /** Who an entry that was not refused is about. */
  private static PublisherId publisher(ObjectNode body) {
    String tenant = body.path("tenant_id").asText("");
    return new PublisherId(
        body.path("instance_id").asText(),
        tenant.isEmpty() ? PublisherId.DEFAULT_TENANT : tenant,
        Math.max(0, body.path("dp_rank").asInt()));
  }

  private HttpResponse<String> post(ObjectNode body) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(register)
            .timeout(ANSWER)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body.toString()))
            .build();
    HttpResponse<String> answer = send(request);
    for (int i = 1; i < ATTEMPTS && answer.statusCode() == UNAVAILABLE; i++) {
      LOG.warn("a registration is tried again: {}", answer.body());
      answer = send(request);
    }
    return answer;
  }

  private HttpResponse<String> send(HttpRequest request) throws InterruptedException {
    try {
      return http.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new IllegalStateException("the HTTP API does not answer itself at " + request.uri(), e);
    }
  }
}
