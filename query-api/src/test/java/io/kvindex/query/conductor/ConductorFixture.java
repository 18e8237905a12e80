// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
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
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The conductor dialect through real HTTP, on an index without streams. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ConductorFixture {

  static final String ZERO =
      "{\"longest_matched\":0,\"GPU\":0,\"DP\":{\"0\":0},\"CPU\":0,\"DISK\":0}";
  static final int[] SIX = {101, 15, 100, 55, 89, 63};

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Registered> registered = new ArrayList<>();
  volatile BareIndex index = new BareIndex();
  private volatile RegistrationSnapshot snapshot = RegistrationSnapshot.EMPTY;
  private HttpServer server;

  @BeforeAll
  void start() {
    ConductorAnswers[] answers = new ConductorAnswers[1];
    BareIndex[] built = new BareIndex[1];
    server =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            (form, query, reply) -> {
              if (built[0] != index) {
                answers[0] = new ConductorAnswers(() -> snapshot, index);
                built[0] = index;
              }
              answers[0].answer(form, query, reply);
            },
            routes -> {},
            new SimpleMeterRegistry());
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

  void register(String instance, int rank, int blockSize) {
    register(instance, rank, blockSize, SourceType.VLLM, null);
  }

  void register(
      String instance, int rank, int blockSize, SourceType type, @Nullable String namespace) {
    register(new PublisherId(instance, "default", rank), "m", blockSize, type, namespace);
  }

  void register(String tenant, String instance, String model, int blockSize, SourceType type) {
    register(new PublisherId(instance, tenant, 0), model, blockSize, type, null);
  }

  private void register(
      PublisherId publisher,
      String model,
      int blockSize,
      SourceType type,
      @Nullable String namespace) {
    Registration registration =
        new Registration(
            publisher,
            "tcp://127.0.0.1:1",
            null,
            type,
            new TableId(publisher.tenantId(), model, blockSize, HashProfile.XXH3_DEFAULT),
            List.of(""),
            namespace,
            SourceOptions.of(CopyPolicy.COUNT),
            null);
    registered.add(new Registered(registration, registered.size()));
    snapshot = RegistrationSnapshot.of(registered, Media.standard());
  }

  static PublisherId rank0(String instance) {
    return new PublisherId(instance, "default", 0);
  }

  HttpResponse<String> query(String members, int[] tokens) throws Exception {
    return post(
        "/query", "{\"model\":\"m\"," + members + "\"token_ids\":" + Arrays.toString(tokens) + "}");
  }

  HttpResponse<String> post(String path, String body) throws Exception {
    return send(request(path).POST(BodyPublishers.ofString(body)));
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }
}
