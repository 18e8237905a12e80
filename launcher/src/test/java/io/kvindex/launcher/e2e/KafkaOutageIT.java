// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.chaos.Knob;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kafka is away while engines go on, for longer than all buffers between them last: the bridge,
 * which has little memory, takes what its send budget allows and reads its sockets no more, ZeroMQ
 * drops at the engines, and what was dropped is asked for again. Afterwards nothing is missing and
 * nobody is degraded. Routers are answered all the time, from before the outage until all is equal
 * again. The outage is {@code -Dkvindex.test.outage=SECONDS} long.
 */
@Tag("broker")
class KafkaOutageIT {

  private static final long SEED = TestSeed.of(KafkaOutageIT.class);
  private static final long OUTAGE_MS =
      TimeUnit.SECONDS.toMillis(Long.getLong("kvindex.test.outage", 15));
  private static final int ENGINES = 3;
  private static final int PROMPTS = 60;

  /** Often enough to notice, and little work for a machine that has to catch up. */
  private static final Duration ASK_EVERY = Duration.ofMillis(25);

  /** The least a bridge takes; with its own 16 MiB the engines would have to send for minutes. */
  private static final long BUDGET = 1 << 20;

  /** Engines allow 100,000, which is no limit for some seconds. */
  private static final int LIVE_HIGH_WATER_MARK = 100;

  /** More than the engines send in a minute. */
  private static final int REPLAY_BATCHES = 200_000;

  /**
   * Batches an engine sends without Kafka at least, however slow the machine is: what the bridge,
   * the sockets and the engine's own queue take is 3,000 of an engine that has one tier.
   */
  private static final long SENT_UNHEARD = 4_500;

  private static final String RECEIVED = "kvindex_bridge_frames_received_total";

  @TempDir private Path directory;

  private final int kafkaPort = ChildProcess.freePort();
  private final int bridgePort = ChildProcess.freePort();
  private final String kafka = "127.0.0.1:" + kafkaPort;
  private final Api bridgeApi = new Api(URI.create("http://127.0.0.1:" + bridgePort));

  @Test
  @Timeout(400)
  void shouldAnswerWhatTheEnginesHold_whenKafkaWasAwayUnderLoad() throws InterruptedException {
    try (LoadedEngines load = load();
        ChildProcess broker = broker();
        ChildProcess bridge = bridge();
        ServerProcess index = ServerProcess.index(directory, kafka)) {
      index.awaitReady();
      load.engines().forEach(engine -> index.api().register(engine, "default"));
      load.start();
      bridge.letRun(3_000);
      assertThat(bridgeApi.metric("kvindex_bridge_gaps_total")).isZero();
      List<Long> before = published(load);
      Map<String, Long> replayed = counters("frames_replayed");
      try (QueryLoop queries = new QueryLoop(index.api(), SEED, ASK_EVERY)) {
        await().atMost(Duration.ofSeconds(60)).until(() -> queries.answers() > 0);
        broker.kill();
        beWithoutKafka(bridge, index.api(), queries);
        awaitSent(load, before);
        int answered = queries.answers();
        broker.restart();
        bridge.letRun(2_000);
        load.pause();
        awaitVisible(index.api(), load.engines());
        assertTruth(index.api(), load.engines());
        assertGoOn(queries, answered);
      }
      assertRepaired(load.engines(), replayed);
      assertThat(index.api().get("/workers").toString())
          .doesNotContain("degraded", "batches_lost", "new_lives", "sends_failed");
      bridge.requireAlive();
    }
  }

  /** Until the outage is over; every query is answered, registrations are not. */
  private void beWithoutKafka(ChildProcess bridge, Api index, QueryLoop queries)
      throws InterruptedException {
    long killedNs = System.nanoTime();
    int before = queries.answers();
    assertRegistrationsAreRefused(index);
    assertAnswersGrowOld(index, killedNs);
    bridge.letRun(Math.max(1, OUTAGE_MS - OUTAGE_MS / 4 - msSince(killedNs)));
    double received = bridgeApi.metric(RECEIVED);
    assertGoOn(queries, before);
    bridge.letRun(OUTAGE_MS / 4);
    assertThat(bridgeApi.metric("kvindex_bridge_inflight_bytes"))
        .as("the send budget is used up")
        .isBetween((double) BUDGET, 2.0 * BUDGET);
    assertThat(bridgeApi.metric(RECEIVED)).as("no socket is read").isEqualTo(received);
    assertThat(queries.answers() - before)
        .as("answers while Kafka was away, at least one a second")
        .isGreaterThan((int) (msSince(killedNs) / 1_000));
  }

  private static long msSince(long ns) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - ns);
  }

  /** More answers than those come, now. */
  private static void assertGoOn(QueryLoop queries, int before) {
    int now = queries.answers();
    assertThat(now).isGreaterThan(before);
    await().atMost(Duration.ofSeconds(30)).until(() -> queries.answers() > now);
  }

  private LoadedEngines load() {
    return new LoadedEngines(
        ENGINES,
        SEED,
        Duration.ofNanos(300_000),
        options -> options.liveHighWaterMark(LIVE_HIGH_WATER_MARK).replayBatches(REPLAY_BATCHES));
  }

  private ChildProcess broker() {
    return new ChildProcess(
        directory,
        "broker",
        "--port",
        Integer.toString(kafkaPort),
        "--data-dir",
        directory.resolve("b").toString());
  }

  private ChildProcess bridge() {
    return new ChildProcess(
        "bridge",
        directory,
        List.of("-Xmx128m", Knob.SEND_BUDGET_BYTES.option(BUDGET)),
        List.of("bridge", "--kafka", kafka, "--http-port", Integer.toString(bridgePort)));
  }

  /** In its own time, and saying what is missing. */
  private static void assertRegistrationsAreRefused(Api api) {
    long startNs = System.nanoTime();
    JsonNode refusal =
        api.post(
            "/register",
            Api.JSON
                .createObjectNode()
                .put("endpoint", "tcp://127.0.0.1:1")
                .put("type", "vLLM")
                .put("modelname", Api.MODEL)
                .put("instance_id", "nobody")
                .put("block_size", 16),
            503);
    assertThat(refusal.path("reason").asText()).isEqualTo("registration_timeout");
    assertThat(refusal.path("error").asText()).contains("Kafka");
    assertThat(System.nanoTime() - startNs).isLessThan(TimeUnit.SECONDS.toNanos(12));
  }

  private static void assertAnswersGrowOld(Api api, long sinceNs) {
    int[] prompt = LoadedEngines.prompt(new Random(SEED));
    assertThat(api.header("X-KvIndex-State", "default", prompt, 16)).hasValue("stale");
    long age = Long.parseLong(api.header("X-KvIndex-Lag-Ms", "default", prompt, 16).orElseThrow());
    assertThat(age).as("ms without Kafka").isGreaterThan(msSince(sinceNs) - 4_000);
    double seconds = msSince(sinceNs) / 1e3;
    assertThat(api.samples("kvindex_partition_age_seconds"))
        .hasSize(12)
        .allSatisfy((partition, old) -> assertThat(old).isBetween(seconds - 4, seconds + 30));
  }

  /**
   * Each engine's batches were dropped on their way and are here from its replay: asked for when a
   * later one showed the hole, or when none came.
   */
  private void assertRepaired(List<SimulatedEngine> engines, Map<String, Long> before) {
    Map<String, Long> replayed = counters("frames_replayed");
    Map<String, Long> found = counters("gaps_found");
    assertThat(replayed)
        .as("replayed, after gaps %s", found)
        .hasSize(engines.size())
        .allSatisfy(
            (engine, now) -> assertThat(now).isGreaterThan(before.getOrDefault(engine, 0L)));
    assertThat(counters("gaps_filled")).isEqualTo(found);
  }

  /** One counter of each publisher, by its name. */
  private Map<String, Long> counters(String name) {
    Map<String, Long> counters = new TreeMap<>();
    for (JsonNode worker : bridgeApi.get("/workers")) {
      counters.put(
          worker.path("instance_id").asText(), worker.path("counters").path(name).asLong());
    }
    return counters;
  }

  /** Each engine's last sequence number. */
  private static List<Long> published(LoadedEngines load) {
    return load.engines().stream().map(SimulatedEngine::lastSequence).toList();
  }

  /** More than all that is between an engine and Kafka can hold, or nothing would be dropped. */
  private static void awaitSent(LoadedEngines load, List<Long> before) {
    await()
        .atMost(Duration.ofSeconds(90))
        .untilAsserted(
            () ->
                assertThat(published(load))
                    .as("batches sent without Kafka")
                    .zipSatisfy(
                        before, (now, then) -> assertThat(now - then).isGreaterThan(SENT_UNHEARD)));
  }

  /** What was dropped last is heard of with the next batch only, so there has to be one. */
  private static void awaitVisible(Api api, List<SimulatedEngine> engines) {
    int[] nonce = {0};
    await()
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofSeconds(1))
        .until(
            () -> {
              if (nonce[0]++ % 3 == 0) {
                engines.forEach(engine -> sendOne(engine, nonce[0]));
              }
              return engines.stream()
                  .allMatch(
                      engine -> api.visible(engine.options().name()) == engine.lastSequence());
            });
  }

  private static void sendOne(SimulatedEngine engine, int nonce) {
    int[] unheardOf = new int[engine.options().blockSize()];
    unheardOf[0] = -nonce;
    engine.prefill(unheardOf, null, null);
    engine.flush();
  }

  private static void assertTruth(Api api, List<SimulatedEngine> engines) {
    Truth truth = new Truth();
    truth.checkPrompts(api, engines, SEED, PROMPTS);
    assertThat(truth.nonZero()).isPositive();
  }
}
