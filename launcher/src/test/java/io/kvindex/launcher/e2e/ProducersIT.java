// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.Main;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.sandbox.engine.PayloadPublisher;
import io.kvindex.sandbox.engine.StandardEvents;
import io.kvindex.sandbox.engine.StandardEvents.Stream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import picocli.CommandLine;

/** Producers other than the usual engines, from their own bytes to answers. */
@Tag("broker")
@Timeout(180)
class ProducersIT {

  private static final int[] PROMPT = IntStream.range(100, 164).toArray();

  @TempDir private Path directory;

  @Test
  void shouldAnswerByTheirOwnHashes_whenAPublisherSpeaksTheStandard() throws InterruptedException {
    long[] seq = new SeqHash(1337).rolled(new SeqHash(1337).locals(PROMPT, 64, 16));
    Stream gpu = new Stream(Api.MODEL, 16, null, null, "node-1", "gpu", 0);
    Stream cpu = new Stream(Api.MODEL, 16, null, null, "node-2", "cpu", 1);
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        PayloadPublisher daemon = new PayloadPublisher("daemon", "127.0.0.1")) {
      Api api = new Api(server.uri());
      register(api, "daemon", "KVEvents", daemon);
      daemon.publish(
          0,
          new StandardEvents()
              .stored(gpu, 4, 0L, null, null, seq[0], seq[1])
              .stored(cpu, 9, 0L, null, null, seq)
              .batch());
      awaitRow(api, "daemon", 64, 32, 64);
      daemon.publish(1, new StandardEvents().removed(cpu, 12, 3L, seq[3]).cleared(gpu, 13).batch());
      awaitRow(api, "daemon", 48, 0, 48);
      assertThat(api.query("default", PROMPT, null, 16).at("/daemon/DP").toString())
          .isEqualTo("{\"0\":0,\"1\":48}");
    }
  }

  /** Its store has hashes only; what they mean was said by the engine, before a restart of ours. */
  @Test
  void shouldResolveAStoragesHashes_whenTheEngineHadNamedThemBefore() throws InterruptedException {
    try (PayloadPublisher engine = new PayloadPublisher("engine", "127.0.0.1");
        PayloadPublisher storage = new PayloadPublisher("storage", "127.0.0.1")) {
      try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
        Api api = new Api(server.uri());
        register(api, "engine", "vLLM", engine);
        engine.publish(0, wire("trtllm_dynamo_stored"));
        awaitRow(api, "engine", 32, 32, 0);
      }
      try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
        Api api = new Api(server.uri());
        register(api, "storage", "vLLM", storage);
        storage.publish(1, wire("llmd_fs_stored"));
        await()
            .atMost(Duration.ofSeconds(30))
            .untilAsserted(
                () ->
                    assertThat(
                            api.query("default", PROMPT, null, 16)
                                .at("/storage/longest_matched")
                                .asInt())
                        .isEqualTo(32));
      }
    }
  }

  /** The same number means another adapter on each, and one never says which. */
  @Test
  void shouldResolveAnAdaptersNumberPerInstance_whenEventsTaughtIt() throws InterruptedException {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        PayloadPublisher sql = new PayloadPublisher("sql", "127.0.0.1");
        PayloadPublisher chat = new PayloadPublisher("chat", "127.0.0.1");
        PayloadPublisher silent = new PayloadPublisher("silent", "127.0.0.1")) {
      Api api = new Api(server.uri());
      register(api, "sql", "vLLM", sql);
      register(api, "chat", "SGLang", chat);
      register(api, "silent", "vLLM", silent);
      // The first one names its adapter once and then leaves the name out, as placeholders do.
      sql.publish(0, adapterBatch(11, null, 0, 7, "sql"));
      sql.publish(1, adapterBatch(12, 11L, 16, 7, "sql"));
      sql.publish(2, adapterBatch(99, null, 32, 7, null));
      chat.publish(0, adapterBatch(21, null, 0, 7, "chat"));
      silent.publish(0, adapterBatch(31, null, 0, 7, null));
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                assertThat(api.visible("sql")).isEqualTo(2);
                assertThat(api.visible("chat")).isZero();
                assertThat(api.visible("silent")).isZero();
              });
      assertThat(longest(api.query("default", PROMPT, "sql", 16))).isEqualTo("32 0 0");
      assertThat(longest(byAdapterNumber(api, 7))).isEqualTo("32 16 16");
      assertThat(longest(byAdapterNumber(api, 8))).isEqualTo("0 0 0");
      assertThat(longest(byAdapterNumber(api, 5_000_000_000L))).isEqualTo("0 0 0");
      assertThat(longest(byAdapterNumber(api, -1))).isEqualTo("0 0 0");
    }
  }

  private static String longest(JsonNode rows) {
    return java.util.stream.Stream.of("sql", "chat", "silent")
        .map(instance -> rows.path(instance).path("longest_matched").asText("-"))
        .collect(java.util.stream.Collectors.joining(" "));
  }

  private static JsonNode byAdapterNumber(Api api, long number) {
    ObjectNode body =
        Api.JSON
            .createObjectNode()
            .put("model", Api.MODEL)
            .put("block_size", 16)
            .put("lora_id", number);
    IntStream.of(PROMPT).forEach(body.putArray("token_ids")::add);
    return api.post("/query", body).path("default");
  }

  /** One block of the prompt; one without tokens is a name only. */
  private static byte[] adapterBatch(
      long hash, @Nullable Long parent, int from, int loraId, @Nullable String loraName) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(2).packDouble(1.76e9 + hash).packArrayHeader(1).packMapHeader(7);
      packer.packString("type").packString("BlockStored");
      packer.packString("block_hashes").packArrayHeader(1).packLong(hash);
      packer.packString("parent_block_hash");
      if (parent == null) {
        packer.packNil();
      } else {
        packer.packLong(parent);
      }
      packer.packString("token_ids").packArrayHeader(16);
      for (int i = 0; i < 16; i++) {
        packer.packInt(PROMPT[from + i]);
      }
      packer.packString("block_size").packInt(16);
      packer.packString("lora_id").packInt(loraId);
      packer.packString("lora_name");
      if (loraName == null) {
        packer.packNil();
      } else {
        packer.packString(loraName);
      }
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void shouldIndexTensorRtLlmsEvents_whenIngested() throws IOException, InterruptedException {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      String first =
          created(0, 4096)
              + created(1, 512)
              + stored(2, 4096, "null", block(11, 0), block(12, 1), block(13, 2))
              + stored(3, 512, "null", block(11, 0))
              + stored(4, 4096, "13", partial(14))
              + event(5, 4096, "{\"type\":\"removed\",\"block_hashes\":[14]}")
              + event(6, 512, "{\"type\":\"removed\",\"block_hashes\":[11]}");
      assertThat(ingest(server, first))
          .contains("created: 1", "stored: 1", "skipped_window: 3", "skipped_partial_block: 2");
      assertRow(api, "trt", 48, 48, 0);

      // A file of its own replaces the one before; an array; the engine is restarted within it.
      String second =
          "["
              + String.join(
                  ",",
                  stored(0, 4096, "null", block(-11, 0)).strip(),
                  event(1, 4096, "{\"type\":\"removed\",\"block_hashes\":[18446744073709551605]}")
                      .strip(),
                  stored(0, 4096, "null", block(11, 0), block(12, 1)).strip(),
                  event(
                          1,
                          4096,
                          "{\"type\":\"updated\",\"block_hash\":12,"
                              + "\"cache_level\":{\"new_value\":1,\"old_value\":0}}")
                      .strip())
              + "]";
      assertThat(ingest(server, second)).contains("moved: 1", "restarts: 1");
      assertRow(api, "trt", 32, 16, 16);
    }
  }

  private String ingest(AllInOne server, String events) throws IOException {
    Path file = Files.writeString(directory.resolve("events.json"), events);
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    int code =
        command.execute(
            "ingest",
            "--server",
            server.uri().toString(),
            "--format",
            "trtllm-json",
            "--instance",
            "trt",
            "--model",
            Api.MODEL,
            "--block-size",
            "16",
            file.toString());
    assertThat(code).as(err.toString()).isZero();
    return out.toString();
  }

  private static String created(int id, int window) {
    return event(id, window, "{\"type\":\"created\",\"num_blocks_per_cache_level\":[9,9]}");
  }

  private static String stored(int id, int window, String parent, String... blocks) {
    return event(
        id,
        window,
        "{\"type\":\"stored\",\"parent_hash\":"
            + parent
            + ",\"blocks\":["
            + String.join(",", blocks)
            + "]}");
  }

  private static String event(int id, int window, String data) {
    return "{\"event_id\":" + id + ",\"data\":" + data + ",\"window_size\":" + window + "}\n";
  }

  private static String block(long hash, int index) {
    return block(hash, index * 16, index * 16 + 16);
  }

  private static String partial(long hash) {
    return block(hash, 48, 55);
  }

  private static String block(long hash, int from, int to) {
    String tokens =
        IntStream.range(from, to)
            .mapToObj(
                i ->
                    "{\"type\":\"unique_token\",\"token_id\":"
                        + PROMPT[i]
                        + ",\"token_extra_id\":0}")
            .collect(java.util.stream.Collectors.joining(","));
    return "{\"type\":\"stored_block\",\"block_hash\":"
        + Long.toUnsignedString(hash)
        + ",\"cache_level\":0,\"priority\":35,\"tokens\":["
        + tokens
        + "]}";
  }

  private static void register(Api api, String instance, String type, PayloadPublisher publisher) {
    api.post(
        "/register",
        Api.JSON
            .createObjectNode()
            .put("endpoint", publisher.endpoint())
            .put("replay_endpoint", publisher.replayEndpoint())
            .put("type", type)
            .put("modelname", Api.MODEL)
            .put("instance_id", instance)
            .put("block_size", 16)
            .put("dp_rank", 0));
  }

  private static void awaitRow(Api api, String instance, int longest, int gpu, int cpu) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertRow(api, instance, longest, gpu, cpu));
  }

  private static void assertRow(Api api, String instance, int longest, int gpu, int cpu) {
    JsonNode row = api.query("default", PROMPT, null, 16).path(instance);
    assertThat(row.path("longest_matched").asInt(-1)).as(row.toString()).isEqualTo(longest);
    assertThat(row.path("GPU").asInt(-1)).as(row.toString()).isEqualTo(gpu);
    assertThat(row.path("CPU").asInt(-1)).as(row.toString()).isEqualTo(cpu);
  }

  /** Payloads of the wire samples of that name: the same two blocks. */
  private static byte[] wire(String name) {
    return HexFormat.of()
        .parseHex(
            switch (name) {
              case "llmd_fs_stored" ->
                  "92cb41da39de0010000091c43397ab426c6f636b53746f72656492cf8aacae47f66585ed"
                      + "cf71ce77cbc8124e3b009000c0ae5348415245445f53544f52414745";
              default ->
                  "93cb41da39de001000009186a474797065ab426c6f636b53746f726564ac626c6f636b5f"
                      + "68617368657392d38aacae47f66585edcf71ce77cbc8124e3bb1706172656e745f626c6f"
                      + "636b5f68617368c0a9746f6b656e5f696473dc00206465666768696a6b6c6d6e6f707172"
                      + "737475767778797a7b7c7d7e7fcc80cc81cc82cc83aa626c6f636b5f73697a6510a76c6f"
                      + "72615f6964c000";
            });
  }
}
