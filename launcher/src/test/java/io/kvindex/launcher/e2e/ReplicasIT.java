// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.kvindex.streams.checkpoint.Replacement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three replicas, each with everything: a router that asks all of them has every answer while one
 * is killed, stands still, or comes back, and the others do not even notice.
 */
@Tag("broker")
class ReplicasIT {

  private static final long SEED = TestSeed.of(ReplicasIT.class);
  private static final int ENGINES = 4;
  private static final int PROMPTS = 40;

  /** All of the engines are in one table. */
  private static final int LOADED = TablePartition.of("default", Api.MODEL, 16, 12);

  private static final Duration UNDISTURBED = Duration.ofSeconds(3);

  /** What the processes wrote is kept if something went wrong. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  @Test
  @Timeout(300)
  void shouldAnswerEverywhere_whenOneIsKilledAndAnotherStandsStill() throws Exception {
    try (LoadedEngines load = new LoadedEngines(ENGINES, SEED);
        BrokerProcess broker = BrokerProcess.start(directory);
        ChildProcess bridge = broker.bridge();
        ServerProcess first = replica(0, broker.address());
        ServerProcess second = replica(1, broker.address());
        ServerProcess third = replica(2, broker.address())) {
      List<ServerProcess> replicas = List.of(first, second, third);
      replicas.forEach(ServerProcess::awaitReady);
      List<Api> apis = replicas.stream().map(ServerProcess::api).toList();
      ClusterView.awaitAtRest(apis, ClusterView.NONE);
      load.engines().forEach(engine -> replicas.get(0).api().register(engine, "default"));
      load.start();
      bridge.letRun(3_000);
      load.pause();
      for (ServerProcess replica : replicas) {
        awaitTruth(replica.api(), load.engines());
      }
      ClusterView.awaitAtRest(apis, LOADED);
      apis.forEach(api -> assertSeesAll(api, load.engines()));

      // One is killed, one is killed and then stands still, one stands still.
      for (ServerProcess victim : replicas) {
        List<Api> others = others(replicas, victim);
        String address = ClusterView.address(victim.api());
        try (TruthLoop asking = new TruthLoop(apis, load.engines(), SEED)) {
          asking.disturb(victim.api());
          if (victim != third) {
            victim.process().kill();
            assertThat(temporaryFiles()).as("what is left of killed ones").isEmptyDirectory();
            others.forEach(other -> ClusterView.awaitUnreachable(other, address));
            assertExact(others);
            if (victim == second) { // has to fold the log, and others to answer meanwhile
              Replacement.delete(tables(1));
            }
            victim.process().restart();
            ClusterView.awaitReadyAgain(victim);
            victim.awaitReady();
            ClusterView.awaitWhole(apis);
            asking.settle(victim.api());
            asking.goOn();
            asking.disturb(victim.api());
          }
          if (victim != first) {
            victim.process().freeze();
            others.forEach(other -> ClusterView.awaitUnreachable(other, address));
            assertExact(others);
            victim.process().thaw();
            asking.goOn();
          }
        }
        awaitTruth(victim.api(), load.engines());
        ClusterView.awaitWhole(apis);
      }
      broker.requireAlive();
      bridge.requireAlive();
    } catch (AssertionError e) {
      tellOfPublishers();
      throw e;
    }
  }

  /** A publisher that lost something, or whose engine is not known again, is followed anew. */
  private void tellOfPublishers() throws IOException {
    try (Stream<String> lines = Files.lines(directory.resolve("bridge.log"))) {
      lines.filter(line -> line.contains("publisher=")).forEach(System.out::println);
    }
  }

  private ServerProcess replica(int number, String kafka) throws IOException {
    return ServerProcess.index(
        "index",
        Files.createDirectory(directory.resolve("r" + number)),
        kafka,
        Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + temporaryFiles()));
  }

  private Path temporaryFiles() throws IOException {
    return Files.createDirectories(directory.resolve("tmp"));
  }

  private static List<Api> others(List<ServerProcess> replicas, ServerProcess victim) {
    return replicas.stream().filter(one -> one != victim).map(ServerProcess::api).toList();
  }

  private Path tables(int number) {
    return directory.resolve("r" + number).resolve("index").resolve("tables");
  }

  /** For some seconds no answer is stale: nothing is done to them. */
  private static void assertExact(List<Api> replicas) {
    int[] prompt = LoadedEngines.prompt(new Random(SEED));
    await()
        .during(UNDISTURBED)
        .atMost(UNDISTURBED.multipliedBy(3))
        .untilAsserted(
            () ->
                assertThat(replicas)
                    .allSatisfy(
                        one ->
                            assertThat(one.header("X-KvIndex-State", "default", prompt, 16))
                                .contains("exact")));
  }

  /** What is told of publishers does not depend on where their table is. */
  private static void assertSeesAll(Api api, List<SimulatedEngine> engines) {
    for (SimulatedEngine engine : engines) {
      JsonNode listener = api.listener(engine.options().name());
      assertThat(listener.path("visible_event_id").asLong(-1)).isPositive();
      assertThat(listener.path("blocks").path("GPU").asLong()).isPositive();
    }
  }

  private static void awaitTruth(Api api, List<SimulatedEngine> engines) {
    await()
        .atMost(Duration.ofSeconds(90))
        .untilAsserted(
            () -> {
              Truth truth = new Truth();
              truth.checkPrompts(api, engines, SEED, PROMPTS);
              assertThat(truth.nonZero()).isPositive();
              // A publisher that lost something is read anew once its replay has all of it again,
              // and for that moment nothing is known of it, however quiet its engine is.
              assertThat(api.get("/workers").toString()).doesNotContain("degraded");
            });
  }
}
