// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.topic.TablePartition;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Publishers to which happens what can happen: one loses a batch, one sends garbage, one a removal
 * nobody can read before it is restarted with a disk that outlives it, one empties its cache, one
 * is unregistered. And two stores, one of them with objects that count for a second, which serve an
 * engine. All of them tell of the same prompt, so that answers are known by heart.
 */
final class OddPublishers implements AutoCloseable {

  private static final int BLOCK = 4;

  /** Tenant of the engines. */
  private static final String ODD = "odd";

  /**
   * Tenant of the stores and the engine they serve: another table of the same partition, in which
   * time goes on with the records of both.
   */
  private static final String POOLED =
      IntStream.range(0, 100)
          .mapToObj(i -> "pooled-" + i)
          .filter(tenant -> partition(tenant) == partition(ODD))
          .findFirst()
          .orElseThrow();

  private static final int[] PROMPT =
      IntStream.range(0, 8 * BLOCK).map(i -> 1_000 * i + 7).toArray();
  private static final long[] NAMES = LongStream.range(100, 108).toArray();
  private static final Duration SOON = Duration.ofSeconds(60);

  private final Map<String, ScriptedEngine> sources = new LinkedHashMap<>();

  /** In a site of {@code kvindex all}. */
  private static int partition(String tenant) {
    return TablePartition.of(tenant, Api.MODEL, BLOCK, 4);
  }

  /** All are registered and hold something; returns when that can be seen. */
  void begin(Api api) throws IOException {
    add(api, ODD, "tiers").announce(on("GPU", 0, 4), on("CPU", 0, 2), on("DISK", 0, 6));
    add(api, ODD, "lossy").announce(on("GPU", 0, 2));
    add(api, ODD, "garbled").announce(on("GPU", 0, 1));
    add(api, ODD, "cleared").announce(on("GPU", 0, 3), on("CPU", 0, 3));
    add(api, ODD, "gone").announce(on("GPU", 0, 8));
    add(api, POOLED, "served").announce(on("GPU", 0, 4), gone("GPU", 1, 2, 3));
    add(api, POOLED, "store").announce(object(1, 0), object(1, 1), object(2, 0), object(2, 1));
    add(api, POOLED, "brief");
    await().atMost(SOON).untilAsserted(() -> assertBegun(api.query(ODD, PROMPT, null, BLOCK)));
    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(api.query(POOLED, PROMPT, null, BLOCK))
                    .hasToString("{\"served\":" + row(3, 1, 1, 2, 0) + "}"));
  }

  /** What the engines hold at first. */
  private static void assertBegun(JsonNode rows) {
    assertThat(rows).hasSize(5);
    assertThat(rows.path("tiers")).hasToString(row(6, 4, 6, 2, 6));
    assertThat(rows.path("lossy")).hasToString(row(2, 2, 2, 0, 0));
    assertThat(rows.path("garbled")).hasToString(row(1, 1, 1, 0, 0));
    assertThat(rows.path("cleared")).hasToString(row(3, 3, 3, 3, 0));
    assertThat(rows.path("gone")).hasToString(row(8, 8, 8, 0, 0));
  }

  /** Everything happens; returns when that can be seen. */
  void goOn(Api api) throws IOException {
    of("tiers").announce(List.of("BlockRemoved", List.of(List.of()), "GPU"));
    of("lossy").lose();
    of("lossy").announce(on("GPU", 2, 3));
    of("garbled").announceGarbage();
    of("garbled").announce(on("GPU", 1, 2));
    of("cleared").announce(List.of("AllBlocksCleared"));
    of("cleared").announce(on("GPU", 0, 1));
    of("store").announce(StoreEvents.removed("cpu", StoreEvents.key(NAMES[2], 1)));
    of("brief").announce(StoreEvents.stored("disk", StoreEvents.key(NAMES[2], 0)));
    awaitVisible(api, "tiers", 1);
    of("tiers").restart();
    of("tiers").announce(on("GPU", 0, 1));
    awaitVisible(api, "garbled", 2);
    awaitVisible(api, "lossy", 2);
    api.post("/unregister", registration(ODD, "gone"));
    await()
        .pollInSameThread() // that of all publishers
        .atMost(SOON)
        .untilAsserted(
            () -> {
              of("cleared").announce(); // time goes on in the log only
              assertHeld(api);
            });
    await().atMost(SOON).untilAsserted(() -> assertCounted(api));
  }

  /** It came about as it was meant to. */
  private static void assertCounted(Api api) {
    assertThat(counter(api, "tiers", "new_lives")).isOne();
    assertThat(counter(api, "tiers", "skipped_malformed")).isOne();
    assertThat(counter(api, "lossy", "batches_lost")).isOne();
    assertThat(counter(api, "garbled", "quarantined")).isOne();
    assertThat(counter(api, "brief", "events_stored")).isOne();
  }

  /** What is left in the end, and which of it may be wrong. */
  void assertHeld(Api api) {
    assertOdd(api.query(ODD, PROMPT, null, BLOCK));
    assertPooled(api.query(POOLED, PROMPT, null, BLOCK));
    assertThat(api.degraded(ODD, PROMPT, BLOCK)).hasValue("garbled,lossy,tiers");
    assertThat(api.degraded(POOLED, PROMPT, BLOCK)).isEmpty();
  }

  /** The same by what the log says of two moments. */
  static void assertPast(PastAnswers past, Instant begun, Instant end) throws IOException {
    assertBegun(past.ask(begun, ODD, BLOCK, PROMPT));
    assertOdd(past.ask(end, ODD, BLOCK, PROMPT));
    assertPooled(past.ask(end, POOLED, BLOCK, PROMPT));
  }

  /** The engines' rows of that. */
  private static void assertOdd(JsonNode rows) {
    assertThat(rows).hasSize(4);
    assertThat(rows.path("tiers")).hasToString(row(6, 1, 6, 0, 6));
    assertThat(rows.path("lossy")).hasToString(row(3, 3, 3, 0, 0));
    assertThat(rows.path("garbled")).hasToString(row(2, 2, 2, 0, 0));
    assertThat(rows.path("cleared")).hasToString(row(3, 1, 3, 3, 0));
  }

  /** The row of the engine that stores serve: one object of a block is not the block. */
  private static void assertPooled(JsonNode rows) {
    assertThat(rows).hasToString("{\"served\":" + row(2, 1, 1, 1, 0) + "}");
  }

  /** In blocks: matched, on the device, of the rank alone, on the host, on disk. */
  private static String row(int longest, int gpu, int rank, int cpu, int disk) {
    return "{\"longest_matched\":%d,\"GPU\":%d,\"DP\":{\"0\":%d},\"CPU\":%d,\"DISK\":%d}"
        .formatted(BLOCK * longest, BLOCK * gpu, BLOCK * rank, BLOCK * cpu, BLOCK * disk);
  }

  private ScriptedEngine add(Api api, String tenant, String name) {
    sources.put(name, new ScriptedEngine(name, 0));
    api.post("/register", registration(tenant, name));
    return of(name);
  }

  private ScriptedEngine of(String name) {
    return Objects.requireNonNull(sources.get(name));
  }

  private ObjectNode registration(String tenant, String name) {
    ScriptedEngine source = of(name);
    ObjectNode body =
        Api.JSON
            .createObjectNode()
            .put("endpoint", source.endpoint())
            .put("replay_endpoint", source.replayEndpoint())
            .put("type", name.equals("store") || name.equals("brief") ? "Mooncake" : "vLLM")
            .put("modelname", Api.MODEL)
            .put("tenant_id", tenant)
            .put("instance_id", name)
            .put("block_size", BLOCK);
    switch (name) {
      case "tiers" -> body.putArray("persistent_media").add("DISK");
      case "store" -> body.put("shards", 2);
      case "brief" -> body.put("expiry_seconds", 1);
      default -> {
        // as engines are
      }
    }
    return body;
  }

  private static Object on(String medium, int from, int to) {
    return ScriptedEngine.stored(PROMPT, NAMES, from, to, BLOCK, medium);
  }

  private static Object gone(String medium, int... blocks) {
    return ScriptedEngine.removed(
        medium, IntStream.of(blocks).mapToObj(block -> NAMES[block]).toList());
  }

  private static Object object(int block, int shard) {
    return StoreEvents.stored("cpu", StoreEvents.key(NAMES[block], shard));
  }

  private static void awaitVisible(Api api, String name, long event) {
    await().atMost(SOON).until(() -> api.visible(name) == event);
  }

  private static long counter(Api api, String name, String counter) {
    return api.listener(name).path("counters").path(counter).asLong();
  }

  @Override
  public void close() {
    sources.values().forEach(ScriptedEngine::close);
  }
}
