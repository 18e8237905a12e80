// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kvindex.model.Media;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.overview.FixedTables;
import io.kvindex.query.overview.OverviewRoutes;
import io.kvindex.sandbox.broker.SharedBroker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Two replicas that take registrations, each with its own view of one topic. */
@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RegistrationFixture {

  static final ObjectMapper JSON = new ObjectMapper();
  static final Duration TIMEOUT = Duration.ofSeconds(20);

  final HttpClient client = HttpClient.newHttpClient();
  final List<Replica> replicas = new ArrayList<>();
  String instance = "";

  /** One server with its own view of the topic. */
  record Replica(RegistrationTable table, RegistrationService service, HttpServer server) {
    static Replica start() {
      Map<String, Object> kafka = Map.of("bootstrap.servers", SharedBroker.bootstrapServers());
      SimpleMeterRegistry registry = new SimpleMeterRegistry();
      RegistrationTable table =
          new RegistrationTable(
              kafka, Media.standard(), Generations.FIRST, Map::of, () -> true, registry);
      RegistrationService service = new RegistrationService(table, kafka, TIMEOUT);
      RegistrationRoutes registering = new RegistrationRoutes(service, HashProfile.XXH3_DEFAULT);
      OverviewRoutes overview =
          new OverviewRoutes(
              table::snapshot, new FixedTables(), JsonNodeFactory.instance::objectNode);
      HttpServer server =
          HttpServer.start(
              HttpSettings.DEFAULT.at("127.0.0.1", 0),
              (form, query, reply) -> reply.body().raw('{').raw('}'),
              routes -> {
                registering.addTo(routes);
                overview.addTo(routes);
              },
              registry);
      return new Replica(table, service, server);
    }

    void close() {
      server.close();
      service.close();
      table.close();
    }
  }

  @BeforeAll
  void start() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", SharedBroker.bootstrapServers()))) {
      new TopicCheck(admin, TIMEOUT.toMillis())
          .ensure(Topics.all(2, (short) 1, Duration.ofDays(1), -1));
    }
    replicas.add(Replica.start());
    replicas.add(Replica.start());
  }

  @AfterAll
  void stop() {
    replicas.forEach(Replica::close);
  }

  @BeforeEach
  void freshNames() {
    instance = SharedBroker.unique("e");
  }

  String body(String more) {
    return "{\"endpoint\":\"tcp://10.0.0.1:5557\",\"type\":\"vLLM\",\"modelname\":\"m-"
        + instance
        + "\",\"instance_id\":\""
        + instance
        + "\",\"block_size\":16,\"dp_rank\":0"
        + more
        + "}";
  }

  JsonNode service(int replica) throws Exception {
    List<JsonNode> mine = services(replica);
    return mine.isEmpty() ? JSON.missingNode() : mine.get(0);
  }

  List<JsonNode> services(int replica) throws Exception {
    URI uri = uri(replica, "/services");
    HttpResponse<String> answer =
        client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    JsonNode all = JSON.readTree(answer.body());
    assertThat(all.path("count").asInt()).isEqualTo(all.path("services").size());
    List<JsonNode> mine = new ArrayList<>();
    all.path("services")
        .forEach(
            one -> {
              if (one.path("InstanceID").asText().equals(instance)) {
                mine.add(one);
              }
            });
    return mine;
  }

  HttpResponse<String> post(int replica, String path, String body) throws Exception {
    return client.send(request(replica, path, body), BodyHandlers.ofString());
  }

  HttpRequest request(int replica, String path, String body) {
    return HttpRequest.newBuilder(uri(replica, path)).POST(BodyPublishers.ofString(body)).build();
  }

  URI uri(int replica, String path) {
    return URI.create("http://127.0.0.1:" + replicas.get(replica).server().port() + path);
  }
}
