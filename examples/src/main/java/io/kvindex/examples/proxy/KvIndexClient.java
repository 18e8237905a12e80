// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Asks kvindex what of a prompt is cached where, and never lets a request wait for it: without an
 * answer in time there is a reason instead, and the router goes by load. Thread-safe.
 */
final class KvIndexClient {

  private static final Duration WARM_UP_DEADLINE = Duration.ofSeconds(1);
  private static final int WARM_UP_QUESTIONS = 20;

  private final HttpClient http;
  private final List<Replica> replicas;
  private final String tenant;
  private final @Nullable Integer blockSize;
  private final Duration deadline;
  private volatile int current;

  /**
   * @param replicas base addresses; where one is away or refuses the next one is asked, once
   * @param blockSize null = the only one that is registered for the model
   * @param deadline longest time kvindex may take; the client waits twice as long, for the network
   */
  KvIndexClient(List<URI> replicas, String tenant, @Nullable Integer blockSize, Duration deadline) {
    this.replicas = replicas.stream().map(Replica::new).toList();
    this.tenant = tenant;
    this.blockSize = blockSize;
    this.deadline = deadline;
    this.http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  /**
   * Asks each replica some questions patiently, so that the first requests need not wait for
   * connections and classes. Replicas that are away do not matter.
   */
  void warmUp() throws InterruptedException {
    Prompt prompt = new Prompt("warm-up", null, null, new int[WARM_UP_QUESTIONS]);
    for (Replica replica : replicas) {
      try {
        for (int i = 0; i < WARM_UP_QUESTIONS; i++) {
          HttpRequest question = request(prompt, replica.uri(), WARM_UP_DEADLINE);
          IndexAnswer.read(http.send(question, BodyHandlers.ofByteArray()), tenant);
        }
      } catch (IOException e) {
        // Requests will find out, and say so.
      }
    }
  }

  /** Never fails, and takes at most two deadlines for each of at most two replicas. */
  Matches ask(Prompt prompt) throws InterruptedException {
    Matches matches = Matches.unknown(Reason.INDEX_AWAY);
    for (int attempt = 0; attempt < Math.min(2, replicas.size()); attempt++) {
      int index = current;
      matches = ask(prompt, replicas.get(index));
      if (matches.problem() != Reason.INDEX_AWAY && matches.problem() != Reason.INDEX_REFUSED) {
        return matches;
      }
      current = (index + 1) % replicas.size();
    }
    return matches;
  }

  private Matches ask(Prompt prompt, Replica replica) throws InterruptedException {
    if (replica.paused()) {
      return Matches.unknown(Reason.INDEX_REFUSED);
    }
    try {
      HttpResponse<byte[]> response =
          http.send(request(prompt, replica.uri(), deadline), BodyHandlers.ofByteArray());
      if (response.statusCode() == 200) {
        return IndexAnswer.read(response, tenant);
      }
      if (IndexAnswer.reason(response).equals("deadline_exceeded")) {
        return Matches.unknown(Reason.INDEX_LATE);
      }
      response.headers().firstValue("Retry-After").ifPresent(replica::pause);
      return Matches.unknown(Reason.INDEX_REFUSED);
    } catch (HttpTimeoutException e) {
      return Matches.unknown(Reason.INDEX_LATE);
    } catch (IOException e) {
      return Matches.unknown(Reason.INDEX_AWAY);
    }
  }

  /** Tokens as octets: neither side spends time on decimal digits. */
  private HttpRequest request(Prompt prompt, URI replica, Duration limit) {
    ByteBuffer octets =
        ByteBuffer.allocate(Integer.BYTES * prompt.tokens().length).order(ByteOrder.LITTLE_ENDIAN);
    octets.asIntBuffer().put(prompt.tokens());
    return HttpRequest.newBuilder(replica.resolve("/query?" + parameters(prompt)))
        .timeout(limit.multipliedBy(2))
        .header("Content-Type", "application/octet-stream")
        .header("X-KvIndex-Deadline-Ms", Long.toString(limit.toMillis()))
        .POST(BodyPublishers.ofByteArray(octets.array()))
        .build();
  }

  private String parameters(Prompt prompt) {
    StringBuilder parameters = new StringBuilder("tenant_id=").append(encode(tenant));
    parameters.append("&model=").append(encode(prompt.model()));
    if (blockSize != null) {
      parameters.append("&block_size=").append(blockSize);
    }
    if (prompt.adapter() != null) {
      parameters.append("&lora_name=").append(encode(prompt.adapter()));
    }
    if (prompt.cacheSalt() != null) {
      parameters.append("&cache_salt=").append(encode(prompt.cacheSalt()));
    }
    return parameters.toString();
  }

  private static String encode(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }
}
