// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;

/**
 * The worked examples of the C++ Conductor's redesign of its matching, from records in the events
 * topic to MessagePack over HTTP. Each example is a model of its own. Source: Mooncake Conductor,
 * C++ server, tests at 13d50e57c.
 */
@Tag("broker")
class BinaryWaterfallIT {
  private static final int BLOCK = 16;
  private static final int BLOCKS = 5;

  /**
   * One example.
   *
   * @param stored {@code instance/rank/medium:blocks}; rank blank = a pool's
   * @param ranks {@code instance/rank} that are registered
   * @param rows the answer's rows
   */
  private record Example(
      String model,
      List<String> ranks,
      List<String> stored,
      int tokens,
      String salt,
      String rows) {}

  private static final List<String> ONE = List.of("i/0");

  private static final List<Example> EXAMPLES =
      List.of(
          new Example(
              "shared-below",
              List.of("i/0", "j/1"),
              List.of("i/0/GPU:01", "pool//CPU:012", "pool//DISK:012"),
              48,
              "",
              row("i", "0:32,48,48") + "," + row("j", "1:0,48,48")),
          one("three-tiers", 64, "0:32,48,64", "i/0/GPU:01", "pool//CPU:2", "pool//DISK:3"),
          one("no-host", 48, "0:16,16,48", "i/0/GPU:0", "pool//DISK:12"),
          one("device-only", 48, "0:48,48,48", "i/0/GPU:012"),
          one("nested", 48, "0:16,32,48", "i/0/GPU:0", "pool//CPU:01", "pool//DISK:012"),
          one("no-way-up", 64, "0:16,16,32", "i/0/GPU:0", "pool//CPU:2", "pool//DISK:13"),
          one("hole", 80, "0:16,32,32", "i/0/GPU:04", "pool//CPU:14", "pool//DISK:34"),
          new Example(
              "not-stitched",
              List.of("i/0", "i/1"),
              List.of("i/0/GPU:0", "i/1/GPU:1"),
              32,
              "",
              row("i", "0:16,16,16", "1:0,0,0")),
          new Example(
              "best-rank",
              List.of("i/0", "i/1"),
              List.of("i/0/GPU:01", "i/1/GPU:0", "pool//CPU:2", "pool//DISK:3"),
              64,
              "",
              row("i", "0:32,48,64", "1:16,16,16")),
          new Example(
              "nothing", List.of("i/0", "i/2"), List.of(), 31, "", row("i", "0:0,0,0", "2:0,0,0")),
          new Example("salted", ONE, List.of("i/0/GPU:0"), 16, "x", row("i", "0:0,0,0")),
          one("disk-only", 16, "0:0,0,16", "pool//DISK:0"));

  @TempDir private Path directory;

  private static Example one(String model, int tokens, String row, String... stored) {
    return new Example(model, ONE, List.of(stored), tokens, "", row("i", row));
  }

  /** {@code rank:gpu,cpu,disk} of each rank; the best of them is the instance. */
  private static String row(String instance, String... ranks) {
    int[] best = new int[3];
    List<String> dp = new ArrayList<>();
    List<String> matches = new ArrayList<>();
    for (String rank : ranks) {
      String[] parts = rank.split("[:,]");
      for (int tier = 0; tier < best.length; tier++) {
        best[tier] = Math.max(best[tier], Integer.parseInt(parts[tier + 1]));
      }
      dp.add("\"" + parts[0] + "\":" + parts[1]);
      matches.add("\"" + parts[0] + "\":" + "{" + tiers(parts[1], parts[2], parts[3]) + "}");
    }
    return "\""
        + instance
        + "\":{\"longest_matched\":"
        + best[2]
        + ",\"dp\":{"
        + String.join(",", dp)
        + "},\"rank_matches\":{"
        + String.join(",", matches)
        + "},"
        + tiers("" + best[0], "" + best[1], "" + best[2])
        + "}";
  }

  private static String tiers(String gpu, String cpu, String disk) {
    return "\"gpu\":" + gpu + ",\"cpu\":" + cpu + ",\"disk\":" + disk;
  }

  @Test
  @Timeout(180)
  void shouldGiveTheConductorsNumbers_whenTiersAreMixed() throws Exception {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        KafkaProducer<String, byte[]> producer = producer(server)) {
      Api api = new Api(server.uri());
      for (Example example : EXAMPLES) {
        for (String rank : example.ranks()) {
          register(api, example.model(), rank, "vLLM");
        }
        register(api, example.model(), "pool-" + example.model() + "/0", "Mooncake");
        Map<String, Long> events = new HashMap<>();
        for (String stored : example.stored()) {
          store(producer, server, example.model(), stored, events);
        }
      }
      for (Example example : EXAMPLES) {
        await()
            .atMost(Duration.ofSeconds(60))
            .untilAsserted(
                () ->
                    assertThat(query(server.uri(), example))
                        .as(example.model())
                        .isEqualTo("{\"instances\":{" + example.rows() + "}}"));
      }
    }
  }

  /** Instance ids are those of the example, with its name behind, so that examples do not meet. */
  private static String idOf(String instance, String model) {
    return instance.startsWith("pool") ? "pool-" + model : instance + "-" + model;
  }

  private static void register(Api api, String model, String rank, String type) {
    String[] parts = rank.split("/");
    api.post(
        "/register",
        Api.JSON
            .createObjectNode()
            .put("endpoint", "tcp://127.0.0.1:1")
            .put("type", type)
            .put("modelname", model)
            .put("instance_id", idOf(parts[0], model))
            .put("block_size", BLOCK)
            .put("dp_rank", Integer.parseInt(parts[1])));
  }

  private static int[] prompt() {
    int[] tokens = new int[BLOCK * BLOCKS];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = 1_000 * i + 7;
    }
    return tokens;
  }

  /** Blocks of the prompt on one medium, each with its own hash as its parent's child. */
  private static void store(
      KafkaProducer<String, byte[]> producer,
      AllInOne server,
      String model,
      String stored,
      Map<String, Long> events)
      throws Exception {
    String[] parts = stored.split("[/:]");
    boolean pool = parts[1].isEmpty();
    int rank = pool ? 0 : Integer.parseInt(parts[1]);
    SourceType type = pool ? SourceType.MOONCAKE : SourceType.VLLM;
    SeqHash rule = new SeqHash(1337);
    int[] prompt = prompt();
    long[] locals = rule.locals(prompt, prompt.length, BLOCK);
    // Names are the prefix hashes themselves: a block is known without the ones before it.
    long[] names = rule.rolled(locals);
    List<KvEvent> list = new ArrayList<>();
    for (char digit : parts[3].toCharArray()) {
      int block = digit - '0';
      list.add(
          new KvEvent.Stored(
              Place.of(parts[2], rank),
              StatedContext.NONE,
              block == 0 ? Parent.ROOT : Parent.of(names[block - 1]),
              Hashes.wrap(names).slice(block, block + 1),
              Hashes.wrap(locals).slice(block, block + 1),
              Hashes.EMPTY));
    }
    TableId table = new TableId("default", model, BLOCK, HashProfile.XXH3_DEFAULT);
    StreamId stream = StreamId.of(new PublisherId(idOf(parts[0], model), "default", rank));
    long event = events.merge(stream.key(), 1L, Long::sum) - 1;
    EventRecord record =
        new EventRecord(
            table,
            stream,
            type,
            SourceTraits.defaultFor(type),
            new Incarnation(1_000, 1_000, 0),
            EventRecord.Position.whole(event),
            null,
            0,
            list);
    int partition = TablePartition.of(table, server.eventPartitions());
    producer
        .send(
            new ProducerRecord<>(
                Topics.EVENTS, partition, stream.key(), EventRecordCodec.encode(record)))
        .get();
  }

  private static String query(URI server, Example example) throws IOException {
    int[] prompt = prompt();
    byte[] body;
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packMapHeader(example.salt().isEmpty() ? 3 : 4);
      packer.packString("model").packString(example.model());
      packer.packString("block_size").packInt(BLOCK);
      if (!example.salt().isEmpty()) {
        packer.packString("cache_salt").packString(example.salt());
      }
      packer.packString("token_ids").packArrayHeader(example.tokens());
      for (int i = 0; i < example.tokens(); i++) {
        packer.packInt(prompt[i]);
      }
      body = packer.toByteArray();
    }
    HttpRequest request =
        HttpRequest.newBuilder(server.resolve("/query"))
            .header("Content-Type", "application/msgpack")
            .POST(BodyPublishers.ofByteArray(body))
            .build();
    try {
      HttpResponse<byte[]> answer =
          HttpClient.newHttpClient().send(request, BodyHandlers.ofByteArray());
      assertThat(answer.statusCode()).isEqualTo(200);
      try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(answer.body())) {
        return unpacker.unpackValue().toJson().replace("-" + example.model(), "");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static KafkaProducer<String, byte[]> producer(AllInOne server) {
    return new KafkaProducer<>(
        Map.of("bootstrap.servers", server.bootstrapServers()),
        new StringSerializer(),
        new ByteArraySerializer());
  }
}
