// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.binary;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.packed.Packed;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The binary dialect through real HTTP, on an index without streams. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class BinaryFixture {
  static final int BLOCK = 16;

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Registered> registered = new ArrayList<>();
  volatile BareIndex index = new BareIndex();
  private volatile RegistrationSnapshot snapshot = RegistrationSnapshot.EMPTY;
  private HttpServer server;

  @BeforeAll
  void start() {
    server =
        HttpServer.start(
            settings(),
            (form, query, reply) ->
                new BinaryAnswers(() -> snapshot, index).answer(form, query, reply),
            routes -> {},
            new SimpleMeterRegistry());
  }

  HttpSettings settings() {
    return HttpSettings.DEFAULT.at("127.0.0.1", 0);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @BeforeEach
  void reset() {
    index = new BareIndex();
    registered.clear();
    snapshot = RegistrationSnapshot.EMPTY;
  }

  void register(String instance, int rank, String... loras) {
    Registration registration =
        new Registration(
            new PublisherId(instance, "default", rank),
            "tcp://127.0.0.1:1",
            null,
            SourceType.VLLM,
            new TableId("default", "m", BLOCK, HashProfile.XXH3_DEFAULT),
            loras.length == 0 ? List.of("") : List.of(loras),
            null,
            SourceOptions.of(CopyPolicy.COUNT),
            null);
    registered.add(new Registered(registration, registered.size()));
    snapshot = RegistrationSnapshot.of(registered, Media.standard());
  }

  static int[] tokens(int count) {
    int[] tokens = new int[count];
    for (int i = 0; i < count; i++) {
      tokens[i] = i % 3 == 0 ? i : 100_000 + i;
    }
    return tokens;
  }

  HttpResponse<byte[]> query(@Nullable Object... more) throws Exception {
    Map<String, @Nullable Object> body = Packed.members("model", "m", "block_size", BLOCK);
    body.putAll(Packed.members(more));
    return post("/query", Packed.of(body));
  }

  HttpResponse<byte[]> post(String path, byte[] body) throws Exception {
    return send("POST", path, BodyPublishers.ofByteArray(body), "application/msgpack");
  }

  /**
   * @param type {@code Content-Type}, of requests without a body {@code Accept}
   */
  HttpResponse<byte[]> send(String method, String path, BodyPublisher body, String type)
      throws Exception {
    String header = body.contentLength() == 0 ? "Accept" : "Content-Type";
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .header(header, type)
            .method(method, body)
            .build(),
        BodyHandlers.ofByteArray());
  }
}
