// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.conductor.ConductorAnswers;
import io.kvindex.query.dialect.Dialect;
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
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** Dynamo's and the conductor's dialect over one index without streams, through real HTTP. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DynamoFixture {

  static final HashProfile DYNAMO = HashProfile.of(Algorithm.XXH3_DYNAMO);

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Registered> registered = new ArrayList<>();
  volatile BareIndex index = new BareIndex();
  private volatile Map<Dialect, QueryAnswers> answers = Map.of();
  private volatile RegistrationSnapshot snapshot = RegistrationSnapshot.EMPTY;
  private HttpServer server;

  @BeforeAll
  void start() {
    server =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            (form, query, reply) -> answers.get(query.dialect()).answer(form, query, reply),
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
    answers =
        Map.of(
            Dialect.DYNAMO,
            new DynamoAnswers(() -> snapshot, index),
            Dialect.CONDUCTOR,
            new ConductorAnswers(() -> snapshot, index));
  }

  void register(String instance, int blockSize, HashProfile profile) {
    Registration registration =
        new Registration(
            new PublisherId(instance, "default", 0),
            "tcp://127.0.0.1:1",
            null,
            SourceType.VLLM,
            new TableId("default", "m", blockSize, profile),
            List.of(""),
            null,
            SourceOptions.of(CopyPolicy.SET),
            null);
    registered.add(new Registered(registration, registered.size()));
    snapshot = RegistrationSnapshot.of(registered, Media.standard());
  }

  HttpResponse<String> post(String path, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  /** The answer to {@code /query_by_hash}, which must be one. */
  String byHash(String hashes) throws Exception {
    return ok("/query_by_hash", "{\"model_name\":\"m\",\"block_hashes\":" + hashes + "}");
  }

  String ok(String path, String body) throws Exception {
    HttpResponse<String> answer = post(path, body);
    if (answer.statusCode() != 200) {
      throw new AssertionError(answer.statusCode() + " " + answer.body());
    }
    return answer.body();
  }
}
