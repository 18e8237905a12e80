// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The worked examples of the Conductor documents, from records in the events topic to the answer
 * over HTTP. Source: Mooncake Conductor Indexer RFC, {@code POST /query}, example; Conductor
 * Indexer API, {@code POST /query}, response.
 */
@Tag("broker")
class WorkedExampleIT {

  private static final int[] PROMPT = {101, 15, 100, 55, 89, 63};

  @TempDir private Path directory;

  @Test
  @Timeout(120)
  void shouldGiveTheRfcsNumbers_whenDeviceRanksAndAPoolShareThePrompt() throws Exception {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      api.post("/register", registration("vllm-1", "vLLM", 0));
      api.post("/register", registration("vllm-1", "vLLM", 1));
      api.post("/register", registration("pool", "Mooncake", 0));
      long[] h = {11, 12, 13};
      try (KafkaProducer<String, byte[]> producer = producer(server)) {
        send(
            producer, server, "vllm-1", 0, SourceType.VLLM, stored("GPU", 0, Parent.ROOT, 0, 2, h));
        send(
            producer, server, "vllm-1", 1, SourceType.VLLM, stored("GPU", 1, Parent.ROOT, 0, 1, h));
        send(
            producer,
            server,
            "pool",
            0,
            SourceType.MOONCAKE,
            stored("CPU", 0, Parent.ROOT, 0, 2, h),
            stored("DISK", 0, Parent.ROOT, 0, 1, h),
            stored("DISK", 0, Parent.of(h[1]), 2, 3, h));
      }
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(api.query("default", PROMPT, null, 2).toString())
                      .isEqualTo(
                          "{\"vllm-1\":{\"longest_matched\":6,\"GPU\":4,\"DP\":{\"0\":4,\"1\":2},\"CPU\":4,\"DISK\":4}}"));
    }
  }

  private static ObjectNode registration(String instance, String type, int rank) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", "tcp://127.0.0.1:1")
        .put("type", type)
        .put("modelname", Api.MODEL)
        .put("instance_id", instance)
        .put("block_size", 2)
        .put("dp_rank", rank);
  }

  /** Blocks {@code from} (inclusive) to {@code to} (exclusive) of the prompt on one medium. */
  private static KvEvent stored(
      String medium, int rank, Parent parent, int from, int to, long[] hashes) {
    long[] locals = new SeqHash(1337).locals(PROMPT, PROMPT.length, 2);
    return new KvEvent.Stored(
        Place.of(medium, rank),
        StatedContext.NONE,
        parent,
        Hashes.wrap(hashes).slice(from, to),
        Hashes.wrap(locals).slice(from, to),
        Hashes.EMPTY);
  }

  private static void send(
      KafkaProducer<String, byte[]> producer,
      AllInOne server,
      String instance,
      int rank,
      SourceType type,
      KvEvent... events)
      throws Exception {
    TableId table = new TableId("default", Api.MODEL, 2, HashProfile.XXH3_DEFAULT);
    StreamId stream = StreamId.of(new PublisherId(instance, "default", rank));
    EventRecord record =
        new EventRecord(
            table,
            stream,
            type,
            SourceTraits.defaultFor(type),
            new Incarnation(1_000, 1_000, 0),
            EventRecord.Position.whole(0),
            null,
            0,
            List.of(events));
    int partition = TablePartition.of(table, server.eventPartitions());
    producer
        .send(
            new ProducerRecord<>(
                Topics.EVENTS, partition, stream.key(), EventRecordCodec.encode(record)))
        .get();
  }

  private static KafkaProducer<String, byte[]> producer(AllInOne server) {
    return new KafkaProducer<>(
        Map.of("bootstrap.servers", server.bootstrapServers()),
        new StringSerializer(),
        new ByteArraySerializer());
  }
}
