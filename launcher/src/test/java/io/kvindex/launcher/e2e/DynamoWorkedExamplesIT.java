// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static io.kvindex.launcher.e2e.ScriptedEngine.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.ReplayFraming;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The worked examples of Dynamo's standalone indexer, taken from its tests: registered, announced
 * over ZMQ and asked in its own words. Where those name hashes of blocks, these are the hashes of
 * tokens. Each example has a routing group of its own. Source: {@code lib/kv-router} of its v1.3 to
 * v1.5, {@code standalone_indexer} and {@code indexer} tests.
 */
@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DynamoWorkedExamplesIT {

  private static final Duration WITHIN = Duration.ofSeconds(30);
  private static final String NOWHERE = "tcp://127.0.0.1:1";
  private static final String OK = "{\"status\":\"ok\"}";
  private static final String NOTHING = "{\"scores\":{},\"frequencies\":[],\"instances\":{}}";
  private static final long[] NAMES = LongStream.range(200, 216).toArray();

  private final List<AutoCloseable> engines = new ArrayList<>();
  private AllInOne server;
  private Api api;
  private String group;
  private int tests;

  @BeforeAll
  void start(@TempDir Path directory) throws InterruptedException {
    server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
    api = new Api(server.uri());
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @BeforeEach
  void freshGroup(TestInfo test) {
    group = test.getTestMethod().orElseThrow().getName() + "-" + ++tests;
  }

  @AfterEach
  void closeEngines() throws Exception {
    for (AutoCloseable engine : engines) {
      engine.close();
    }
    engines.clear();
  }

  /** Example 1: both hold 11 and 12 on the device, 7 also 13 behind them on the host. */
  @Test
  void shouldCountInTokens_whenHostGoesOnFromTheDevice() throws Exception {
    engine(7, 0, 4).announce(device(0, 3), on("CPU", 2, 3), evicted(2, 3));
    engine(8, 0, 4).announce(device(0, 2));
    awaitAnswer(
        3,
        "{\"scores\":{\"7\":{\"0\":8},\"8\":{\"0\":8}},\"frequencies\":[],\"instances\":{"
            + "\"7\":{\"longest_matched\":12,\"gpu\":8,\"dp\":{\"0\":8},\"cpu\":12,\"disk\":12},"
            + "\"8\":{\"longest_matched\":8,\"gpu\":8,\"dp\":{\"0\":8},\"cpu\":8,\"disk\":8}}}");
  }

  /** Example 2: the best of both ranks, each number for itself. */
  @Test
  void shouldTakeTheMaximaOverRanks_whenRanksReachDifferently() throws Exception {
    int[] prompt = prompt(5 * 16);
    engine(7, 0, 16)
        .announce(
            stored(prompt, NAMES, 0, 5, 16, "GPU"),
            stored(prompt, NAMES, 2, 3, 16, "CPU"),
            stored(prompt, NAMES, 3, 5, 16, "DISK"),
            evicted(2, 5));
    engine(7, 1, 16)
        .announce(stored(prompt, NAMES, 0, 1, 16, "GPU"), stored(prompt, NAMES, 1, 2, 16, "DISK"));
    awaitSame(
        "/query",
        tokens(prompt),
        "{\"scores\":{\"7\":{\"0\":32,\"1\":16}},\"frequencies\":[],\"instances\":{\"7\":{"
            + "\"longest_matched\":80,\"gpu\":32,\"dp\":{\"0\":32,\"1\":16},\"cpu\":48,"
            + "\"disk\":80}}}");
  }

  /** Example 3: device 2, host 1, disk 1, also where only the dump of that was read. */
  @Test
  void shouldAnswerTheSame_whenTheDumpIsReadIntoAFreshIndex(@TempDir Path other) throws Exception {
    engine(7, 0, 4).announce(device(0, 4), on("CPU", 2, 3), on("DISK", 3, 4), evicted(2, 4));
    String answer =
        "{\"scores\":{\"7\":{\"0\":8}},\"frequencies\":[],\"instances\":{\"7\":{"
            + "\"longest_matched\":16,\"gpu\":8,\"dp\":{\"0\":8},\"cpu\":12,\"disk\":16}}}";
    awaitAnswer(4, answer);
    try (AllInOne fresh =
        AllInOne.start(
            AllInOneOptions.in(other).withHttpPort(0), List.of(server.uri().toString()))) {
      Api second = new Api(fresh.uri());
      second.post("/register", registration(7, 0, 4, NOWHERE), 201);
      await()
          .atMost(WITHIN)
          .untilAsserted(
              () ->
                  assertThat(second.post("/query_by_hash", hashes(4)).toString())
                      .isEqualTo(answer));
    }
  }

  /** Example 4: {@code CPU} is the host, whose blocks are no score. */
  @Test
  void shouldCountHostOnly_whenTheMediumIsCpu() throws Exception {
    engine(7, 0, 4).announce(on("CPU", 0, 2));
    awaitSame(
        "/query",
        tokens(prompt(8)),
        "{\"scores\":{},\"frequencies\":[],\"instances\":{\"7\":{\"longest_matched\":8,\"gpu\":0,"
            + "\"dp\":{\"0\":0},\"cpu\":8,\"disk\":8}}}");
  }

  /** Example 5: the host is followed from the device's last block, not from the prompt's start. */
  @Test
  void shouldFollowTheDevicesTail_whenTheHostAlsoHasAChainFromTheRoot() throws Exception {
    engine(7, 0, 4).announce(device(0, 5), on("CPU", 0, 2), on("CPU", 3, 5), evicted(3, 5));
    awaitAnswer(5, oneRank(12, 20, 20));
  }

  /** Example 6: what the host has of the device's blocks adds nothing. */
  @Test
  void shouldAddNothing_whenTheHostHasWhatTheDeviceHas() throws Exception {
    engine(7, 0, 4).announce(device(0, 5), on("CPU", 0, 5));
    awaitAnswer(6, oneRank(20, 20, 20));
  }

  /** Example 7: 4 is registered, the event says 2. */
  @Test
  void shouldIndexNothing_whenTheEventHasAnotherBlockSize() throws Exception {
    int[] prompt = prompt(8);
    engine(7, 0, 4).announce(stored(prompt, NAMES, 0, 4, 2, "GPU"));
    await()
        .atMost(WITHIN)
        .until(() -> listener().at("/counters/skipped_block_size_mismatch").asInt() == 1);
    awaitSame("/query", tokens(prompt), NOTHING);
    JsonNode listener = listener();
    assertThat(listener.path("state").asText()).isEqualTo("mismatched");
    assertThat(listener.path("last_error").asText()).contains("4", "2");
  }

  /** Example 8: two batches from before the registration, with both framings of replies. */
  @ParameterizedTest(name = "{0}")
  @EnumSource
  void shouldHaveBothBatches_whenTheyWereSentBeforeTheRegistration(ReplayFraming framing)
      throws Exception {
    SimulatedEngine engine =
        EngineOptions.vllm("replaying-" + framing).blockSize(4).framing(framing).start();
    engines.add(engine);
    int[] prompt = {1, 1, 1, 1, 2, 2, 2, 2};
    for (int length : new int[] {4, 8}) {
      engine.prefill(Arrays.copyOf(prompt, length), null, null);
      assertThat(engine.flushToReplayOnly()).isTrue();
    }
    ObjectNode registration = registration(7, 0, 4, engine.endpoint());
    registration.put("replay_endpoint", engine.replayEndpoint());
    assertThat(api.post("/register", registration, 201).toString()).isEqualTo(OK);
    awaitSame("/query", tokens(prompt), oneRank(8, 8, 8));
    await().atMost(WITHIN).until(() -> listener().path("last_sequence").asInt(-1) == 1);
    await().atMost(WITHIN).until(() -> listener().at("/counters/frames_replayed").asInt() == 2);
  }

  /** Example 9. */
  @Test
  void shouldSayThereIsNoIndexer_whenTheModelIsUnknown() {
    assertThat(api.post("/query", tokens(prompt(8)), 404).toString())
        .isEqualTo(
            "{\"error\":\"no indexer for model="
                + Api.MODEL
                + " routing_group="
                + group
                + "\",\"reason\":\"not_found\"}");
  }

  /** Example 10: the body is just over 8 MiB. */
  @Test
  void shouldRefuse_whenTheBodyIsTooLong() throws Exception {
    engine(7, 0, 4);
    ObjectNode query = tokens(prompt(8)).put("padding", "");
    int limit = 8 << 20;
    String padding = "x".repeat(limit - query.toString().length());
    assertThat(api.post("/query", query.put("padding", padding)).toString()).isEqualTo(NOTHING);
    query.put("padding", padding + "x");
    assertThat(api.post("/query", query, 413).path("reason").asText()).isEqualTo("body_too_large");
  }

  /** Example 11: there is no lower tier to go on in. */
  @Test
  void shouldHaveNoLowerTiers_whenNothingIsStoredOnAny() throws Exception {
    engine(7, 0, 4).announce(device(0, 2));
    awaitSame(
        "/query_tiered_by_hash",
        hashes(3),
        "{\"block_size\":4,\"tiered\":{\"device\":{\"scores\":[[{\"worker_id\":7,\"dp_rank\":0},2]],"
            + "\"frequencies\":[]},\"lower_tier\":[]}}");
  }

  /** What theirs forgets: the blocks behind one that was removed. */
  @Test
  void shouldCountTheRestAgain_whenABlockOfTheMiddleComesBack() throws Exception {
    ScriptedEngine engine = engine(7, 0, 4);
    engine.announce(device(0, 4), ScriptedEngine.removed("GPU", List.of(NAMES[1])));
    awaitAnswer(4, oneRank(4, 4, 4));
    engine.announce(device(1, 2));
    awaitAnswer(4, oneRank(16, 16, 16));
  }

  private ScriptedEngine engine(int id, int rank, int blockSize) {
    ScriptedEngine engine = new ScriptedEngine(group + "-" + id, rank);
    engines.add(engine);
    ObjectNode registration = registration(id, rank, blockSize, engine.endpoint());
    registration.put("replay_endpoint", engine.replayEndpoint());
    assertThat(api.post("/register", registration, 201).toString()).isEqualTo(OK);
    return engine;
  }

  private ObjectNode registration(int id, int rank, int blockSize, String endpoint) {
    return body()
        .put("instance_id", id)
        .put("endpoint", endpoint)
        .put("block_size", blockSize)
        .put("dp_rank", rank);
  }

  private ObjectNode body() {
    return Api.JSON.createObjectNode().put("model_name", Api.MODEL).put("routing_group", group);
  }

  private static int[] prompt(int tokens) {
    return IntStream.rangeClosed(1, tokens).toArray();
  }

  private static List<?> device(int from, int to) {
    return on("GPU", from, to);
  }

  private static List<?> on(String medium, int from, int to) {
    return stored(prompt(to * 4), NAMES, from, to, 4, medium);
  }

  /** Blocks leave the device, which has described them, and are elsewhere only. */
  private static List<?> evicted(int from, int to) {
    return List.of("BlockRemoved", Arrays.stream(NAMES, from, to).boxed().toList(), "GPU");
  }

  private ObjectNode tokens(int[] prompt) {
    ObjectNode query = body();
    ArrayNode ids = query.putArray("token_ids");
    Arrays.stream(prompt).forEach(ids::add);
    return query;
  }

  /** The first blocks of four tokens, by the hashes of single blocks: signed, as theirs are. */
  private ObjectNode hashes(int blocks) {
    ObjectNode query = body();
    ArrayNode list = query.putArray("block_hashes");
    Arrays.stream(new SeqHash(1337).locals(prompt(blocks * 4), blocks * 4, 4)).forEach(list::add);
    return query;
  }

  private void awaitAnswer(int blocks, String answer) {
    awaitSame("/query_by_hash", hashes(blocks), answer);
    assertThat(api.post("/query", tokens(prompt(blocks * 4))).toString()).isEqualTo(answer);
  }

  private void awaitSame(String path, ObjectNode query, String answer) {
    await()
        .atMost(WITHIN)
        .untilAsserted(() -> assertThat(api.post(path, query).toString()).isEqualTo(answer));
  }

  private static String oneRank(int gpu, int cpu, int disk) {
    return "{\"scores\":{\"7\":{\"0\":%d}},\"frequencies\":[],\"instances\":{\"7\":{".formatted(gpu)
        + "\"longest_matched\":%d,\"gpu\":%d,\"dp\":{\"0\":%d},\"cpu\":%d,\"disk\":%d}}}"
            .formatted(disk, gpu, gpu, cpu, disk);
  }

  /** What {@code /workers} says of rank 0 of this example's only instance. */
  private JsonNode listener() {
    JsonNode workers = api.get("/workers?routing_group=" + group);
    return workers.path(0).path("listeners").path("0");
  }
}
