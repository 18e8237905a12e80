// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.Topics;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A dump of Dynamo into one server, and of that server into another one. */
@Tag("broker")
class PeersIT {

  private static final int[] PROMPT = {101, 15, 100, 55, 89, 63, 7, 8};
  private static final long[] LOCALS = new SeqHash(1337).locals(PROMPT, PROMPT.length, 2);
  private static final long[] NAMES = {11, -12, 13, 14};
  private static final String LORA = "adapter";

  @TempDir private Path first;
  @TempDir private Path second;

  @Test
  @Timeout(240)
  void shouldAnswerAlike_whenADumpWasTakenOver() throws Exception {
    HttpServer dynamo =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    dynamo.createContext(
        "/dump",
        exchange -> {
          byte[] body = dump().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    dynamo.start();
    List<String> peer = List.of("http://127.0.0.1:" + dynamo.getAddress().getPort());
    try (AllInOne one = AllInOne.start(AllInOneOptions.in(first).withHttpPort(0), peer)) {
      Api api = new Api(one.uri());
      api.post("/register", registration("7"));
      await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertTiers(api, "7", null));
      assertThat(api.degraded("default", PROMPT, 2)).contains("7");

      api.post("/register", registration("pod-a"));
      announce(one);
      await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertTiers(api, "pod-a", LORA));
      JsonNode told = api.get("/dump");
      JsonNode hearsay = told.path("m:default").path("events").path(0);
      assertThat(hearsay.path("worker_id").asText()).isEqualTo("7");
      assertThat(hearsay.path("kvindex").path("unverified").asBoolean()).isTrue();

      List<String> next = List.of(one.uri().toString());
      try (AllInOne two = AllInOne.start(AllInOneOptions.in(second).withHttpPort(0), next)) {
        Api other = new Api(two.uri());
        other.post("/register", registration("pod-a"));
        other.post("/register", registration("7"));
        await()
            .atMost(Duration.ofSeconds(30))
            .untilAsserted(() -> assertTiers(other, "pod-a", LORA));
        assertTiers(other, "pod-a", null);
        assertThat(
                other.query("default", PROMPT, null, 2).path("7").path("longest_matched").asInt())
            .as("hearsay of hearsay")
            .isZero();
        assertThat(other.query("default", PROMPT, null, 2).path("pod-a"))
            .isEqualTo(api.query("default", PROMPT, null, 2).path("pod-a"));
      }
    } finally {
      dynamo.stop(0);
    }
  }

  private static void assertTiers(Api api, String instance, @Nullable String lora) {
    assertThat(api.query("default", PROMPT, lora, 2).path(instance).toString())
        .isEqualTo("{\"longest_matched\":8,\"GPU\":4,\"DP\":{\"0\":8},\"CPU\":2,\"DISK\":2}");
  }

  private static ObjectNode registration(String instance) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", "tcp://127.0.0.1:1")
        .put("type", "vLLM")
        .put("modelname", Api.MODEL)
        .put("instance_id", instance)
        .put("block_size", 2)
        .put("dp_rank", 0);
  }

  /** Dynamo's example: two blocks on the device, one on the host, one on disk. */
  private static String dump() {
    return "{\"m:default\":{\"block_size\":2,\"events\":["
        + event("device", "null", 0, 2)
        + ","
        + event("host_pinned", Long.toUnsignedString(NAMES[1]), 2, 3)
        + ","
        + event("disk", Long.toUnsignedString(NAMES[2]), 3, 4)
        + "]}}";
  }

  private static String event(String tier, String parent, int from, int to) {
    StringBuilder blocks = new StringBuilder();
    for (int i = from; i < to; i++) {
      blocks.append(i > from ? "," : "");
      blocks.append("{\"block_hash\":").append(Long.toUnsignedString(NAMES[i]));
      blocks.append(",\"tokens_hash\":").append(Long.toUnsignedString(LOCALS[i]));
      blocks.append(",\"mm_extra_info\":null}");
    }
    return "{\"worker_id\":7,\"storage_tier\":\""
        + tier
        + "\",\"event\":{\"event_id\":0,\"data\":{\"stored\":{\"parent_hash\":"
        + parent
        + ",\"start_position\":null,\"blocks\":["
        + blocks
        + "]}},\"dp_rank\":0}}";
  }

  /** The same three tiers from an engine of the server's own, in the plain context and another. */
  private static void announce(AllInOne server) throws Exception {
    TableId table = new TableId("default", Api.MODEL, 2, HashProfile.XXH3_DEFAULT);
    StreamId stream = StreamId.of(new PublisherId("pod-a", "default", 0));
    StatedContext adapter = new StatedContext(LORA, null, null, null);
    EventRecord record =
        new EventRecord(
            table,
            stream,
            SourceType.VLLM,
            SourceTraits.defaultFor(SourceType.VLLM),
            new Incarnation(1_000, 1_000, 0),
            EventRecord.Position.whole(0),
            null,
            0,
            List.of(
                stored("GPU", StatedContext.NONE, 0, 0, 4),
                stored("CPU", StatedContext.NONE, 0, 2, 3),
                stored("NVME", StatedContext.NONE, 0, 3, 4),
                evicted(0),
                stored("GPU", adapter, 100, 0, 4),
                stored("CPU", adapter, 100, 2, 3),
                stored("NVME", adapter, 100, 3, 4),
                evicted(100)));
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", server.bootstrapServers()),
            new StringSerializer(),
            new ByteArraySerializer())) {
      producer
          .send(
              new ProducerRecord<>(
                  Topics.EVENTS,
                  TablePartition.of(table, server.eventPartitions()),
                  stream.key(),
                  EventRecordCodec.encode(record)))
          .get();
    }
  }

  /** The last two blocks leave the device, on which they were described. */
  private static KvEvent evicted(long names) {
    return new KvEvent.Removed(
        new Place("GPU", 0, 0, null), Hashes.of(hashes(names)).slice(2, 4), Hashes.EMPTY);
  }

  private static long[] hashes(long names) {
    long[] hashes = NAMES.clone();
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] += names;
    }
    return hashes;
  }

  private static KvEvent stored(
      String medium, StatedContext context, long names, int from, int to) {
    long[] hashes = hashes(names);
    return new KvEvent.Stored(
        new Place(medium, 0, 0, null),
        context,
        from == 0 ? Parent.ROOT : Parent.of(hashes[from - 1]),
        Hashes.of(hashes).slice(from, to),
        Hashes.of(LOCALS).slice(from, to),
        Hashes.EMPTY);
  }
}
