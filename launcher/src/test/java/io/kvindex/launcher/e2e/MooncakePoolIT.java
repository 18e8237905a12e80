// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Conductor RFC's worked example from frames on the wire to the answer over HTTP: engines that
 * state tokens, and a Mooncake master that knows object keys only, two objects a block.
 */
@Tag("broker")
class MooncakePoolIT {

  private static final int[] PROMPT = {101, 15, 100, 55, 89, 63};
  private static final long[] HASHES = {0x8aacae47f66585edL, 12, -13};
  private static final int SHARDS = 2;
  private static final Duration WITHIN = Duration.ofSeconds(30);

  @TempDir private Path directory;

  @Test
  @Timeout(120)
  void shouldGiveTheRfcsNumbers_whenAMasterTellsObjectKeysOnly() throws Exception {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        WirePublisher rank0 = new WirePublisher(0);
        WirePublisher rank1 = new WirePublisher(0);
        WirePublisher master = new WirePublisher(1);
        WirePublisher undeclared = new WirePublisher(1)) {
      Api api = new Api(server.uri());
      api.post("/register", registration("vllm-1", "vLLM", 0, rank0));
      api.post("/register", registration("vllm-1", "vLLM", 1, rank1));
      api.post("/register", registration("pool", "Mooncake", 0, master).put("shards", SHARDS));
      api.post("/register", registration("vllm-1", "vLLM", 0, rank1).put("tenant_id", "neighbour"));
      api.post(
          "/register",
          registration("guess", "Mooncake", 0, undeclared).put("tenant_id", "guessing"));
      rank0.awaitSubscriber();
      rank1.awaitSubscriber();
      master.awaitSubscriber();
      undeclared.awaitSubscriber();

      // The pool speaks first; one event of another model and one of no block are among it.
      List<Object> events = new ArrayList<>();
      events.add(
          StoreEvents.stored("cpu", "n@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" + "ab".repeat(32)));
      events.add(StoreEvents.stored("cpu", "checkpoint/step-7"));
      both(events, "cpu", 0, 1);
      both(events, "disk", 0, 2);
      master.send(Arrays.asList(1_760_000_000_250L, events, 0));
      rank0.send(
          Arrays.asList(
              1_760_000_000.5,
              List.of(stored(0, 3), Arrays.asList("BlockRemoved", List.of(HASHES[2]), "GPU")),
              0));
      rank1.send(Arrays.asList(1_760_000_000.5, List.of(stored(0, 1)), 1));
      awaitRow(
          api, "{\"longest_matched\":6,\"GPU\":4,\"DP\":{\"0\":4,\"1\":2},\"CPU\":4,\"DISK\":4}");

      List<Object> shard = new ArrayList<>();
      shard.add(StoreEvents.stored("cpu", key(0, 1)));
      undeclared.send(Arrays.asList(1_760_000_000_250L, shard, 0));
      // Each publisher's report comes at its own time, behind the blocks it is about.
      awaitUnverified(api, "guess", "[\"group\",\"shards\"]");
      awaitUnverified(api, "pool", "[\"group\"]");
      assertThat(api.listener("vllm-1").path("unverified").toString()).isEqualTo("[]");
      assertThat(api.metric("kvindex_publisher_unverified")).isEqualTo(3);

      // One object of the first block goes, said of one medium, meant of all.
      List<Object> gone = new ArrayList<>();
      gone.add(StoreEvents.removed("cpu", key(0, 1)));
      master.send(Arrays.asList(1_760_000_001_250L, gone, 0));
      awaitRow(
          api, "{\"longest_matched\":6,\"GPU\":4,\"DP\":{\"0\":4,\"1\":2},\"CPU\":2,\"DISK\":2}");

      // What a pool loses makes the rows of all it serves doubtful, and nobody of another tenant.
      assertThat(degraded(api, "default")).isEmpty();
      master.lose();
      master.send(Arrays.asList(1_760_000_002_250L, List.of(), 0));
      await()
          .atMost(WITHIN)
          .untilAsserted(() -> assertThat(degraded(api, "default")).hasValue("pool,vllm-1"));
      assertThat(degraded(api, "neighbour")).isEmpty();

      master.send(List.of(List.of(List.of("RemoveAllEvent"))));
      awaitRow(
          api, "{\"longest_matched\":4,\"GPU\":4,\"DP\":{\"0\":4,\"1\":2},\"CPU\":0,\"DISK\":0}");
      assertThat(degraded(api, "default")).as("nothing is left to be wrong about").isEmpty();
      assertThat(api.listener("pool").path("connected").asBoolean()).isTrue();
      String workers = api.get("/workers").toString();
      assertThat(workers).contains("skipped_other_model").contains("skipped_unparsed_key");
    }
  }

  private static Optional<String> degraded(Api api, String tenant) {
    return api.degraded(tenant, PROMPT, 2);
  }

  private static void awaitRow(Api api, String row) {
    await()
        .atMost(WITHIN)
        .untilAsserted(
            () ->
                assertThat(api.query("default", PROMPT, null, 2).toString())
                    .isEqualTo("{\"vllm-1\":" + row + "}"));
  }

  private static void awaitUnverified(Api api, String instance, String what) {
    await()
        .atMost(WITHIN)
        .untilAsserted(
            () -> assertThat(api.listener(instance).path("unverified").toString()).isEqualTo(what));
  }

  private static ObjectNode registration(
      String instance, String type, int rank, WirePublisher publisher) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", publisher.endpoint())
        .put("type", type)
        .put("modelname", Api.MODEL)
        .put("instance_id", instance)
        .put("block_size", 2)
        .put("dp_rank", rank);
  }

  /** vLLM's array form: blocks of the prompt from its start on the device. */
  private static List<@Nullable Object> stored(int from, int to) {
    List<Integer> tokens = Arrays.stream(PROMPT, 2 * from, 2 * to).boxed().toList();
    List<Long> hashes = Arrays.stream(HASHES, from, to).boxed().toList();
    return Arrays.asList("BlockStored", hashes, null, tokens, 2, null, "GPU");
  }

  private static String key(int block, int shard) {
    return StoreEvents.key(HASHES[block], shard);
  }

  private static void both(List<Object> events, String medium, int... blocks) {
    for (int block : blocks) {
      for (int shard = 0; shard < SHARDS; shard++) {
        events.add(StoreEvents.stored(medium, key(block, shard)));
      }
    }
  }
}
