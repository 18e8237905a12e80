// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.sandbox.broker.SharedBroker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RegistrationRoutesIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Replica> replicas = new ArrayList<>();
  private String instance = "";

  /** One server with its own view of the topic. */
  private record Replica(RegistrationTable table, RegistrationService service, HttpServer server) {
    static Replica start() {
      Map<String, Object> kafka = Map.of("bootstrap.servers", SharedBroker.bootstrapServers());
      SimpleMeterRegistry registry = new SimpleMeterRegistry();
      RegistrationTable table =
          new RegistrationTable(kafka, Media.standard(), Generations.FIRST, registry);
      RegistrationService service = new RegistrationService(table, kafka, TIMEOUT);
      RegistrationRoutes routes = new RegistrationRoutes(service, table, HashProfile.XXH3_DEFAULT);
      HttpServer server =
          HttpServer.start(
              HttpSettings.DEFAULT.at("127.0.0.1", 0),
              (form, query, reply) -> reply.body().raw('{').raw('}'),
              routes::addTo,
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

  private String body(String more) {
    return "{\"endpoint\":\"tcp://10.0.0.1:5557\",\"type\":\"vLLM\",\"modelname\":\"m-"
        + instance
        + "\",\"instance_id\":\""
        + instance
        + "\",\"block_size\":16,\"dp_rank\":0"
        + more
        + "}";
  }

  private static String key(String instance) {
    return instance + "|default|0";
  }

  @Test
  void shouldBeVisibleAtOnceAndOnTheOtherReplica_whenRegistered() throws Exception {
    HttpResponse<String> answer = post(0, "/register", body(",\"additionalsalt\":\"w8a8\""));
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo("{\"status\":\"registered successfully\",\"instance_id\":\"" + instance + "\"}");
    assertThat(service(0).path("AdditionalSalt").asText()).isEqualTo("w8a8");
    Awaitility.await().atMost(TIMEOUT).until(() -> !service(1).isMissingNode());
    assertThat(service(1)).isEqualTo(service(0));
  }

  @Test
  void shouldWriteNothing_whenRegisteredAgainAnywhere() throws Exception {
    post(0, "/register", body(""));
    long generation = service(0).path("Generation").asLong();
    assertThat(post(0, "/register", body("")).statusCode()).isEqualTo(200);
    assertThat(post(1, "/register", body("")).statusCode()).isEqualTo(200);
    assertThat(post(0, "/register", body(",\"replace\":true")).statusCode()).isEqualTo(200);
    assertThat(service(0).path("Generation").asLong()).isEqualTo(generation);
    assertThat(service(1).path("Generation").asLong()).isEqualTo(generation);
  }

  @Test
  void shouldNameEachDifference_whenRegistrationConflicts() throws Exception {
    post(0, "/register", body(""));
    String other =
        body(",\"replay_endpoint\":\"tcp://10.0.0.1:5558\"")
            .replace("\"block_size\":16", "\"block_size\":32");
    HttpResponse<String> answer = post(1, "/register", other);
    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(answer.body())
        .contains("replay_endpoint (none, now tcp://10.0.0.1:5558)")
        .contains("block_size (16, now 32)")
        .contains("\"reason\":\"registration_conflict\"");
  }

  @Test
  void shouldBeginNewGeneration_whenReplaced() throws Exception {
    post(0, "/register", body(""));
    long generation = service(0).path("Generation").asLong();
    String moved = body(",\"replace\":true").replace("10.0.0.1", "10.0.0.2");
    assertThat(post(0, "/register", moved).statusCode()).isEqualTo(200);
    assertThat(service(0).path("Generation").asLong()).isGreaterThan(generation);
    assertThat(service(0).path("Endpoint").asText()).isEqualTo("tcp://10.0.0.2:5557");
  }

  @Test
  void shouldKeepTheGeneration_whenAdapterIsAddedAndRemoved() throws Exception {
    post(0, "/register", body(""));
    post(0, "/register", body(",\"lora_name\":\"sql\""));
    List<JsonNode> both = services(0);
    assertThat(both).extracting(s -> s.path("LoraName").asText()).containsExactly("", "sql");
    assertThat(both.get(0).path("Generation")).isEqualTo(both.get(1).path("Generation"));
    HttpResponse<String> answer = post(0, "/unregister", body(",\"lora_name\":\"sql\""));
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo(
            "{\"status\":\"unregistered successfully\",\"removed_instances\":[],"
                + "\"removed_adapters\":[\"sql\"]}");
    assertThat(services(0)).extracting(s -> s.path("LoraName").asText()).containsExactly("");
  }

  @Test
  void shouldRemoveThePublisher_whenUnregistered() throws Exception {
    post(0, "/register", body(""));
    HttpResponse<String> answer = post(1, "/unregister", body(""));
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo(
            "{\"status\":\"unregistered successfully\",\"removed_instances\":[\""
                + key(instance)
                + "\"]}");
    HttpResponse<String> again = post(0, "/unregister", body(""));
    assertThat(again.statusCode()).isEqualTo(404);
    assertThat(again.body()).contains("\"error\":\"service not found: " + key(instance) + "\"");
  }

  @Test
  void shouldRefuseAnotherHashProfile_whenTheTableHasOne() throws Exception {
    post(0, "/register", body(""));
    String other =
        body(",\"hash_profile\":{\"algorithm\":\"xxh3\",\"seed\":7}")
            .replace("\"instance_id\":\"" + instance, "\"instance_id\":\"other-" + instance);
    HttpResponse<String> answer = post(1, "/register", other);
    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(answer.body()).contains("\"field\":\"hash_profile\"").contains("xxh3:1337");
  }

  @Test
  void shouldBeSeparatePublishers_whenRankOrTenantDiffers() throws Exception {
    post(0, "/register", body(""));
    assertThat(
            post(0, "/register", body("").replace("\"dp_rank\":0", "\"dp_rank\":1")).statusCode())
        .isEqualTo(200);
    assertThat(post(0, "/register", body(",\"tenant_id\":\"acme\"")).statusCode()).isEqualTo(200);
    assertThat(services(0)).hasSize(3);
  }

  @Test
  void shouldSeeOldRegistrations_whenReplicaStartsLater() throws Exception {
    post(0, "/register", body(",\"pools\":[\"p\"]"));
    Replica late = Replica.start();
    try {
      Awaitility.await().atMost(TIMEOUT).until(late.table()::caughtUp);
      Registered seen = late.table().snapshot().get(new PublisherId(instance, "default", 0));
      assertThat(seen)
          .isNotNull()
          .extracting(one -> one.registration().options().pools())
          .isEqualTo(List.of("p"));
    } finally {
      late.close();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldBeAGenerationOfItsOwn_whenCrossedByAnotherReplica(boolean replaced) throws Exception {
    post(0, "/register", body(""));
    PublisherId publisher = new PublisherId(instance, "default", 0);
    Registered before = Objects.requireNonNull(replicas.get(0).table().snapshot().get(publisher));
    write(publisher, replaced ? before.registration() : null);
    long crossed = write(publisher, before.withLoraNames(List.of("", "sql")));
    awaitGeneration(0, crossed);
    awaitGeneration(1, crossed);
    Replica late = Replica.start();
    replicas.add(late);
    try {
      awaitGeneration(2, crossed);
      // said again, the record gets the name it should have, for those who see nothing before it
      assertThat(post(0, "/register", body("")).statusCode()).isEqualTo(200);
      for (int i = 0; i < 3; i++) {
        int replica = i;
        Awaitility.await()
            .atMost(TIMEOUT)
            .untilAsserted(
                () ->
                    assertThat(replicas.get(replica).table().snapshot().get(publisher))
                        .isEqualTo(
                            new Registered(
                                before.registration().withLoraNames(List.of("", "sql"), crossed),
                                crossed)));
      }
    } finally {
      replicas.remove(late);
      late.close();
    }
  }

  private void awaitGeneration(int replica, long generation) {
    Awaitility.await()
        .atMost(TIMEOUT)
        .until(() -> service(replica).path("Generation").asLong(-1) == generation);
  }

  /** As another replica that has not seen the newest record yet; the record's offset. */
  private static long write(PublisherId publisher, @Nullable Registration registration)
      throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", SharedBroker.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      return producer
          .send(
              new ProducerRecord<>(
                  Topics.REGISTRATIONS,
                  publisher.key().getBytes(StandardCharsets.UTF_8),
                  registration == null ? null : RegistrationCodec.encode(registration)))
          .get()
          .offset();
    }
  }

  @Test
  void shouldEndWithOneRegistration_whenManyRegisterAtOnce() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      all.add(client.sendAsync(request(0, "/register", body("")), BodyHandlers.ofString()));
    }
    for (CompletableFuture<HttpResponse<String>> one : all) {
      assertThat(one.get().statusCode()).isEqualTo(200);
    }
    assertThat(services(0)).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {                                                  ~ invalid_json ~
          []                                                 ~ invalid_json ~
          {"endpoint":"a","endpoint":"b"}                    ~ invalid_json ~
          {}                                                 ~ missing ~ endpoint
          {"endpoint":7}                                     ~ invalid_type ~ endpoint
          {"endpoint":"bogus"}                               ~ invalid_value ~ endpoint
          {"endpoint":"tcp://h"}                             ~ invalid_value ~ endpoint
          {"endpoint":"tcp://:1"}                            ~ invalid_value ~ endpoint
          {"endpoint":"tcp://::1:80"}                        ~ invalid_value ~ endpoint
          {"endpoint":"tcp://h:65536"}                       ~ invalid_value ~ endpoint
          {"endpoint":"udp://h:1"}                           ~ invalid_value ~ endpoint
          {"endpoint":"tcp://*:1","replay_endpoint":"x"}     ~ invalid_value ~ replay_endpoint
          {"endpoint":"tcp://*:1"}                           ~ missing ~ type
          {"endpoint":"ipc:///t","type":"llama"}             ~ invalid_value ~ type
          {"endpoint":"tcp://[::1]:1","type":"sglang"}       ~ missing ~ modelname
          {"endpoint":"tcp://h:1","type":"VLLM","modelname":"m"} ~ missing ~ instance_id
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":""} ~ missing ~ instance_id
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e"} ~ missing ~ block_size
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":0} ~ out_of_range ~ block_size
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":1048577} ~ out_of_range ~ block_size
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":"16"} ~ invalid_type ~ block_size
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","dp_rank":-1} ~ out_of_range ~ dp_rank
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","dp_rank":2147483648} ~ out_of_range ~ dp_rank
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":16,"copies":"many"} ~ invalid_value ~ copies
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":16,"pools":[1]} ~ invalid_type ~ pools
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":16,"hash_profile":"md5"} ~ unsupported ~ hash_profile
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":16,"replace":"yes"} ~ invalid_type ~ replace
          {"endpoint":"tcp://h:1","model_name":"m","instance_id":1} ~ unsupported ~ model_name
          {"endpoint":"tcp://h:1","instance_id":1}           ~ unsupported ~ instance_id
          """)
  void shouldRefuse_whenRegistrationIsBad(String body, String reason, String field)
      throws Exception {
    HttpResponse<String> answer = post(0, "/register", body);
    assertThat(answer.statusCode()).isEqualTo(400);
    JsonNode json = JSON.readTree(answer.body());
    assertThat(json.path("reason").asText()).isEqualTo(reason);
    assertThat(json.path("field").asText(null)).isEqualTo(field);
    assertThat(json.path("error").asText()).isNotBlank();
  }

  private JsonNode service(int replica) throws Exception {
    List<JsonNode> mine = services(replica);
    return mine.isEmpty() ? JSON.missingNode() : mine.get(0);
  }

  private List<JsonNode> services(int replica) throws Exception {
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

  private HttpResponse<String> post(int replica, String path, String body) throws Exception {
    return client.send(request(replica, path, body), BodyHandlers.ofString());
  }

  private HttpRequest request(int replica, String path, String body) {
    return HttpRequest.newBuilder(uri(replica, path)).POST(BodyPublishers.ofString(body)).build();
  }

  private URI uri(int replica, String path) {
    return URI.create("http://127.0.0.1:" + replicas.get(replica).server().port() + path);
  }
}
