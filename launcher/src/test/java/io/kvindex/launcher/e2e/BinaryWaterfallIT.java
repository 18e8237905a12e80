// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static io.kvindex.launcher.e2e.ScriptedEngine.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The worked examples of the C++ Conductor's redesign of its matching, from frames of engines and
 * stores to MessagePack over HTTP. Each example is a model of its own. Source: Mooncake Conductor,
 * C++ server, tests at 13d50e57c.
 */
@Tag("broker")
class BinaryWaterfallIT {
  private static final int BLOCK = 16;
  private static final int BLOCKS = 5;
  private static final int[] PROMPT =
      IntStream.range(0, BLOCK * BLOCKS).map(i -> 1_000 * i + 7).toArray();
  private static final long[] NAMES = LongStream.range(100, 100 + BLOCKS).toArray();

  /**
   * One example.
   *
   * @param stored {@code instance/rank/medium:blocks}; rank blank = a pool's
   * @param ranks {@code instance/rank} that are registered
   * @param rows the answer's rows
   */
  private record Example(
      String model, List<String> ranks, List<String> stored, int tokens, String salt, String rows) {

    /** The blocks of {@code instance/rank/medium}, as digits. */
    String held(String holder) {
      return stored.stream()
          .filter(one -> one.startsWith(holder + ":"))
          .map(one -> one.substring(one.indexOf(':') + 1))
          .findAny()
          .orElse("");
    }
  }

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
  private final List<ScriptedEngine> sources = new ArrayList<>();

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
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      for (Example example : EXAMPLES) {
        for (String rank : example.ranks()) {
          engine(api, example, rank);
        }
        pool(api, example);
      }
      for (Example example : EXAMPLES) {
        for (JsonNode worker : api.get("/workers?model_name=" + example.model())) {
          await()
              .atMost(Duration.ofSeconds(60))
              .until(() -> allVisible(api, example.model(), worker.path("instance_id").asText()));
        }
        assertThat(query(api, example))
            .as(example.model())
            .isEqualTo("{\"instances\":{" + example.rows() + "}}");
      }
    } finally {
      for (ScriptedEngine source : sources) {
        source.close();
      }
    }
  }

  /** Whether each of an instance's ranks sent something, and all of it is in answers. */
  private static boolean allVisible(Api api, String model, String instance) {
    for (JsonNode worker : api.get("/workers?model_name=" + model)) {
      if (worker.path("instance_id").asText().equals(instance)) {
        for (JsonNode listener : worker.path("listeners")) {
          if (!listener.has("visible_event_id") || listener.path("lag_batches").asInt(-1) != 0) {
            return false;
          }
        }
        return true;
      }
    }
    return false;
  }

  /** Instance ids are those of the example, with its name behind, so that examples do not meet. */
  private static String idOf(String instance, String model) {
    return instance + "-" + model;
  }

  private void register(
      Api api, ScriptedEngine source, Example example, String instance, int rank, String type) {
    ObjectNode body =
        Api.JSON
            .createObjectNode()
            .put("endpoint", source.endpoint())
            .put("replay_endpoint", source.replayEndpoint())
            .put("type", type)
            .put("modelname", example.model())
            .put("instance_id", idOf(instance, example.model()))
            .put("block_size", BLOCK)
            .put("dp_rank", rank);
    body.putObject("address_tiers").put("nvme", "DISK");
    if (type.equals("vLLM")) {
      body.remove("address_tiers");
    }
    api.post("/register", body);
  }

  /** Computes the whole prompt, and evicts what the example does not say it holds. */
  private void engine(Api api, Example example, String name) throws IOException {
    int rank = Integer.parseInt(name.split("/")[1]);
    ScriptedEngine engine = source(idOf(name, example.model()), rank);
    String held = example.held(name + "/GPU");
    List<Long> evicted =
        IntStream.range(0, BLOCKS)
            .filter(block -> held.indexOf('0' + block) < 0)
            .mapToObj(block -> NAMES[block])
            .toList();
    engine.announce(
        stored(PROMPT, NAMES, 0, BLOCKS, BLOCK, "GPU"), ScriptedEngine.removed("GPU", evicted));
    register(api, engine, example, name.split("/")[0], rank, "vLLM");
  }

  /** The store tells of each block where its copies are. */
  private void pool(Api api, Example example) throws IOException {
    ScriptedEngine store = source("pool-" + example.model(), 0);
    List<List<?>> objects = new ArrayList<>();
    for (int block = 0; block < BLOCKS; block++) {
      List<String> addresses = new ArrayList<>();
      if (example.held("pool//CPU").indexOf('0' + block) >= 0) {
        addresses.add("10.0.0.7:17001");
      }
      if (example.held("pool//DISK").indexOf('0' + block) >= 0) {
        addresses.add("nvme://10.0.0.7/0");
      }
      if (!addresses.isEmpty()) {
        objects.add(object(example.model(), block, addresses));
      }
    }
    store.announce(objects.toArray(List<?>[]::new));
    register(api, store, example, "pool", 0, "Mooncake");
  }

  /** Conductor RFC, BlockStoreEvent. */
  private static List<@Nullable Object> object(String model, int block, List<String> addresses) {
    return Arrays.asList(
        "BlockStoreEvent",
        1_760_000_000.5,
        "object-" + block,
        addresses,
        NAMES[block],
        block == 0 ? null : NAMES[block - 1],
        Arrays.stream(PROMPT, block * BLOCK, (block + 1) * BLOCK).boxed().toList(),
        BLOCK,
        model,
        "",
        null);
  }

  private ScriptedEngine source(String name, int rank) {
    ScriptedEngine source = new ScriptedEngine(name, rank);
    sources.add(source);
    return source;
  }

  private static String query(Api api, Example example) throws IOException {
    Map<String, Object> body = new HashMap<>();
    body.put("model", example.model());
    body.put("block_size", BLOCK);
    body.put("cache_salt", example.salt());
    body.put("token_ids", Arrays.stream(PROMPT, 0, example.tokens()).boxed().toList());
    return api.postPacked("/query", body, 200).replace("-" + example.model(), "");
  }
}
