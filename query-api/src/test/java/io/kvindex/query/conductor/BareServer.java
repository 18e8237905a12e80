// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/**
 * Answers of a dialect through real HTTP, over an index without streams. Each test begins with an
 * empty index and nobody registered.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class BareServer {

  protected final HttpClient client = HttpClient.newHttpClient();
  private final List<Registered> registered = new ArrayList<>();
  protected volatile BareIndex index = new BareIndex();
  private volatile RegistrationSnapshot snapshot = RegistrationSnapshot.EMPTY;
  private volatile QueryAnswers answers;
  private HttpServer server;

  /** What is tested, over these registrations and this index. */
  protected abstract QueryAnswers answers(
      Supplier<RegistrationSnapshot> registrations, BareIndex over);

  protected HttpSettings settings() {
    return HttpSettings.DEFAULT.at("127.0.0.1", 0);
  }

  @BeforeAll
  public void start() {
    server =
        HttpServer.start(
            settings(),
            (form, query, reply) -> answers.answer(form, query, reply),
            routes -> {},
            new SimpleMeterRegistry());
  }

  @AfterAll
  public void stop() {
    server.close();
  }

  @BeforeEach
  public void reset() {
    index = new BareIndex();
    registered.clear();
    snapshot = RegistrationSnapshot.EMPTY;
    answers = answers(() -> snapshot, index);
  }

  protected void register(
      PublisherId publisher,
      SourceType type,
      TableId table,
      List<String> loras,
      @Nullable String namespace) {
    Registration registration =
        new Registration(
            publisher,
            "tcp://127.0.0.1:1",
            null,
            type,
            table,
            loras,
            namespace,
            SourceOptions.of(CopyPolicy.COUNT),
            null);
    registered.add(new Registered(registration, registered.size()));
    snapshot = RegistrationSnapshot.of(registered, Media.standard());
  }

  protected HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  protected HttpResponse<String> post(String path, String body) throws Exception {
    return send(request(path).POST(BodyPublishers.ofString(body)));
  }

  protected HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }
}
