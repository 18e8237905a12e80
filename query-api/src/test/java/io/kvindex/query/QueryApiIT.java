// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.LocalView;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.StreamPosition;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** The whole API on a real broker, its index being an empty one. */
@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QueryApiIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final HttpClient client = HttpClient.newHttpClient();
  private final EmptyIndex index = new EmptyIndex();
  private final PrometheusMeterRegistry metrics =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Map<String, Object> kafka =
      Map.of("bootstrap.servers", SharedBroker.bootstrapServers());
  private QueryApi api;

  @BeforeAll
  void start() throws Exception {
    try (Admin admin = Admin.create(kafka)) {
      new TopicCheck(admin, TIMEOUT.toMillis())
          .ensure(Topics.all(2, (short) 1, Duration.ofDays(1), -1));
    }
    api =
        QueryApi.start(
            QueryApi.Options.of(
                HttpSettings.DEFAULT.at("127.0.0.1", 0), SharedBroker.bootstrapServers()),
            index,
            metrics);
    Awaitility.await().atMost(TIMEOUT).until(() -> get("/ready").statusCode() == 200);
  }

  @AfterAll
  void stop() {
    api.close();
  }

  @Test
  void shouldListTheInstanceWithZeros_whenQueriedStraightAfterRegistering() throws Exception {
    String name = SharedBroker.unique("api");
    post("/register", registration(name));
    String query =
        "{\"model\":\"" + name + "\",\"block_size\":16,\"token_ids\":[1],\"tenant_id\":null}";
    assertThat(post("/query", query).body())
        .isEqualTo(
            "{\"default\":{\""
                + name
                + "\":{\"longest_matched\":0,\"GPU\":0,\"DP\":{\"0\":0},\"CPU\":0,\"DISK\":0}}}");
    post("/unregister", registration(name));
    assertThat(post("/query", query).body()).isEqualTo("{\"default\":{}}");
  }

  @Test
  void shouldSayWhy_whenNotReady() throws Exception {
    index.reason = "restoring 3 of 8 partitions";
    try {
      HttpResponse<String> answer = get("/ready");
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body())
          .isEqualTo("{\"error\":\"restoring 3 of 8 partitions\",\"reason\":\"not_ready\"}");
      assertThat(get("/health").statusCode()).isEqualTo(200);
      assertThat(get("/health").body()).isEqualTo("{\"status\":\"up\"}");
    } finally {
      index.reason = null;
    }
  }

  /** One context's partition is there, the other's is still restored. */
  @Test
  void shouldTellForOneContext_whenAskedWhetherItIsReady() throws Exception {
    String here = SharedBroker.unique("api");
    String there = SharedBroker.unique("api");
    post("/register", registration(here));
    post("/register", registration(there));
    index.reason = "partition 7 is restoring rows: 1 of 4 (25 %)";
    index.unreadable = there;
    try {
      assertThat(get("/ready").statusCode()).isEqualTo(503);
      assertThat(get("/ready?model=" + here).statusCode()).isEqualTo(200);
      assertThat(get("/ready?model=" + here + "&block_size=16").statusCode()).isEqualTo(200);
      assertThat(get("/ready?model=" + there).body()).contains("25 %");
      assertThat(get("/ready?model=" + there + "&block_size=16").statusCode()).isEqualTo(503);
      assertThat(get("/ready?model=" + there + "&block_size=17").statusCode()).isEqualTo(200);
      assertThat(get("/ready?model=" + there + "&block_size=16.0").statusCode()).isEqualTo(400);
      assertThat(get("/ready?model=" + there + "&tenant_id=x").statusCode()).isEqualTo(200);
      assertThat(query(here).statusCode()).isEqualTo(200);
      HttpResponse<String> refused = query(there);
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.body()).contains("partition 7", "25 %", "\"reason\":\"not_ready\"");
      assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
    } finally {
      index.reason = null;
      index.unreadable = null;
    }
  }

  private HttpResponse<String> query(String model) throws Exception {
    return post("/query", "{\"model\":\"" + model + "\",\"block_size\":16,\"token_ids\":[1]}");
  }

  @Test
  void shouldFilterByModelAndGroupOnly_whenWorkersAreListed() throws Exception {
    String name = SharedBroker.unique("api");
    post("/register", registration(name));
    String model = "/workers?model_name=" + name;
    assertThat(get(model).body()).contains("\"instance_id\":\"" + name + "\"");
    assertThat(get(model + "&routing_group=default").body()).contains(name);
    assertThat(get(model + "&routing_group=nobody").body()).isEqualTo("[]");
    assertThat(get(model + "&tenant_id=nobody").body()).contains(name);
    post("/unregister", registration(name));
  }

  @Test
  void shouldShowBridgeState_whenWorkersAreListed() throws Exception {
    String name = SharedBroker.unique("api");
    post("/register", registration(name));
    assertThat(worker(name).path("status").asText()).isEqualTo("pending");
    PublisherId publisher = new PublisherId(name, "default", 0);
    long generation = worker(name).at("/listeners/0/generation").asLong();
    tell(publisher, name, generation + 1);
    tell(new PublisherId(name + "-x", "default", 0), name, 0);
    assertThat(worker(name).path("status").asText()).isEqualTo("pending");
    tell(publisher, name, generation);
    index.held = Map.of(publisher, Map.of("GPU", 12L));
    Awaitility.await()
        .atMost(TIMEOUT)
        .until(() -> worker(name).path("status").asText().equals("active"));
    JsonNode listener = worker(name).at("/listeners/0");
    assertThat(listener.path("state").asText()).isEqualTo("degraded");
    assertThat(listener.path("last_error").asText()).isEqualTo("3 batches lost");
    assertThat(listener.path("last_sequence").asLong()).isEqualTo(41);
    assertThat(listener.path("visible_event_id").asLong()).isEqualTo(40);
    assertThat(listener.path("visible_incarnation").toString())
        .isEqualTo("{\"generation\":0,\"life\":7,\"clears\":0}");
    assertThat(listener.path("life").asLong()).isEqualTo(7);
    assertThat(listener.path("last_event_time").asText()).isEqualTo("1970-01-01T00:00:03.000001Z");
    assertThat(listener.path("connected").asText()).isEqualTo("true");
    assertThat(listener.path("connection_since").asText()).isEqualTo("1970-01-01T00:00:02.500Z");
    // The index speaks of another generation: of this one nothing is visible.
    assertThat(listener.path("lag_batches").asLong()).isEqualTo(generation == 0 ? 1 : 42);
    assertThat(listener.at("/blocks/GPU").asLong()).isEqualTo(12);
    String who = "{dp_rank=\"0\",instance_id=\"" + name + "\",";
    String tenant = "tenant_id=\"default\"} ";
    assertThat(get("/metrics").body())
        .contains(
            "kvindex_publisher_counts_total" + who + "name=\"stored\"," + tenant + "5.0",
            "kvindex_publisher_connected" + who + tenant + "1.0",
            "kvindex_publisher_connection_since_timestamp_seconds" + who + tenant + "2.5",
            "kvindex_publisher_generation" + who + tenant + (double) generation,
            "kvindex_publisher_life" + who + tenant + "7.0",
            "kvindex_publisher_clears" + who + tenant + "0.0",
            "kvindex_publisher_last_sequence" + who + tenant + "41.0",
            "kvindex_publisher_unverified"
                + who
                + tenant.replace("}", ",what=\"shards\"}")
                + "1.0");
    assertThat(listener.at("/counters/stored").asLong()).isEqualTo(5);
    assertThat(listener.path("unverified").toString()).isEqualTo("[\"shards\"]");
    assertThat(worker(name).at("/endpoints/0").asText()).isEqualTo("tcp://10.0.0.1:5557");
  }

  @Test
  void shouldExposeQueryLatency_whenMetricsAreScraped() throws Exception {
    post("/query", "{\"model\":\"m\",\"token_ids\":[1]}");
    post("/query", "{\"model\":\"m\"}");
    HttpResponse<String> answer = get("/metrics");
    assertThat(answer.headers().firstValue("content-type").orElse("")).startsWith("text/plain");
    assertThat(answer.body())
        .contains("kvindex_query_latency_seconds_bucket{route=\"query\",le=\"2.0E-5\"}")
        .contains("kvindex_http_refused_total{reason=\"missing\"}")
        .contains("kvindex_registrations ");
  }

  private static String registration(String name) {
    return "{\"endpoint\":\"tcp://10.0.0.1:5557\",\"type\":\"vLLM\",\"modelname\":\""
        + name
        + "\",\"instance_id\":\""
        + name
        + "\",\"block_size\":16}";
  }

  private void tell(PublisherId publisher, String model, long generation) throws Exception {
    BridgeProgress progress =
        new BridgeProgress(
            publisher,
            new TableId("default", model, 16, HashProfile.XXH3_DEFAULT),
            SourceType.VLLM,
            generation,
            7L,
            0,
            41L,
            3_000_001,
            PublisherState.DEGRADED,
            "3 batches lost",
            Map.of("stored", 5L, "remarked_unverified_shards", 3L, "remarked_unverified_tier", 0L),
            Map.of(),
            List.of(),
            new Connection(true, 2_500_000, true),
            null,
            null);
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(kafka, new ByteArraySerializer(), new ByteArraySerializer())) {
      byte[] key = publisher.key().getBytes(StandardCharsets.UTF_8);
      producer
          .send(
              new ProducerRecord<>(
                  Topics.BRIDGE_PROGRESS, key, BridgeProgressCodec.encode(progress)))
          .get();
    }
  }

  private JsonNode worker(String name) throws Exception {
    for (JsonNode worker : new ObjectMapper().readTree(get("/workers").body())) {
      if (worker.path("instance_id").asText().equals(name)) {
        return worker;
      }
    }
    throw new AssertionError("no worker " + name);
  }

  private HttpResponse<String> get(String path) throws Exception {
    return client.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(uri(path)).POST(BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString());
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + api.port() + path);
  }

  private static final class EmptyIndex implements IndexAccess, LocalView {
    private final PrefixIndex index = new PrefixIndex();
    private volatile @Nullable String reason;

    /** Model whose tables are not here. */
    private volatile @Nullable String unreadable;

    private volatile Map<PublisherId, Map<String, Long>> held = Map.of();

    @Override
    public @Nullable String notReadyReason(TableId table) {
      return table.model().equals(unreadable) ? reason : null;
    }

    @Override
    public @Nullable TableView view(TableId table) {
      return table.model().equals(unreadable) ? null : this;
    }

    @Override
    public @Nullable String notReadyReason() {
      return reason;
    }

    @Override
    public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
      return new StreamPosition(
          new Incarnation(0, 7, 0),
          EventRecord.Position.whole(40),
          100,
          1_000_000,
          2_000,
          1,
          false);
    }

    @Override
    public Map<PublisherId, Map<String, Long>> blocks() {
      return held;
    }

    @Override
    public PrefixIndex index() {
      return index;
    }

    @Override
    public Trust trust() {
      return Trust.EXACT;
    }

    @Override
    public long lagMs() {
      return 0;
    }

    @Override
    public Set<PublisherId> degradedPublishers() {
      return Set.of();
    }

    @Override
    public Collection<ContextNames> contexts() {
      return List.of();
    }
  }
}
