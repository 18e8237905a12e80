// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Hundreds of publishers, most of them dead: a handful of threads, next to no processor time, and
 * the living ones are followed as if they were alone.
 */
@Tag("broker")
class ManyPublishersIT {

  private static final int PUBLISHERS = 500;
  private static final int ALIVE = 6;

  /** A bridge reads with one for each processor, four at most. */
  private static final int MAX_THREADS =
      22 + Math.min(4, Runtime.getRuntime().availableProcessors());

  /**
   * Promised are 0.05 on a machine of usual speed with nothing else to do ({@code
   * -Dkvindex.test.idle=0.05}); beside other tests this tells a loop that never rests.
   */
  private static final double MAX_CORE =
      Double.parseDouble(System.getProperty("kvindex.test.idle", "0.15"));

  private static final long MEASURED_MS = 10_000;
  private static final int STRETCHES = 6;

  /** Threads every JVM has. */
  private static final Set<String> JVM =
      Set.of(
          "Reference Handler",
          "Finalizer",
          "Signal Dispatcher",
          "Service Thread",
          "Monitor Deflation Thread",
          "Common-Cleaner",
          "Notification Thread",
          "Attach Listener");

  private static final Pattern THREAD = Pattern.compile("^\"(.+?)\" #\\d+", Pattern.MULTILINE);

  @TempDir private Path directory;

  @Test
  @Timeout(300)
  void shouldStayIdle_whenMostPublishersAreDead() throws Exception {
    try (LoadedEngines load = new LoadedEngines(ALIVE, 7);
        BrokerProcess broker = BrokerProcess.start(directory);
        ChildProcess bridge = broker.bridge();
        ServerProcess index = ServerProcess.index(directory, broker.address())) {
      index.awaitReady();
      IntStream.range(ALIVE, PUBLISHERS).parallel().forEach(i -> registerDead(index.api(), i));
      load.engines().forEach(engine -> index.api().register(engine, "default"));
      load.start();
      bridge.letRun(2_000);
      load.pause();
      awaitTruth(index.api(), load.engines());
      assertThat(index.api().get("/workers")).hasSize(PUBLISHERS);

      double idle = busyCores(bridge);
      List<String> threads = threads(bridge);
      assertThat(threads).hasSizeLessThanOrEqualTo(MAX_THREADS);
      assertThat(idle).as("of a core").isLessThan(MAX_CORE);
      broker.requireAlive();
    }
  }

  private static void registerDead(Api api, int number) {
    ObjectNode body = Api.JSON.createObjectNode();
    body.put("endpoint", "tcp://127.0.0.1:" + (20_000 + number))
        .put("replay_endpoint", "tcp://127.0.0.1:" + (21_000 + number))
        .put("type", "vLLM")
        .put("modelname", Api.MODEL)
        .put("instance_id", "dead-" + number)
        .put("block_size", 16);
    api.post("/register", body);
  }

  /** The quietest of some stretches: in the first ones a lot is still being compiled. */
  private static double busyCores(ChildProcess process) throws Exception {
    double least = Double.MAX_VALUE;
    for (int i = 0; i < STRETCHES && least >= MAX_CORE; i++) {
      long before = cpuTicks(process);
      long startNs = System.nanoTime();
      process.letRun(MEASURED_MS);
      double seconds = (System.nanoTime() - startNs) / 1e9;
      least = Math.min(least, (cpuTicks(process) - before) / 100.0 / seconds);
    }
    return least;
  }

  /** User and system time in hundredths of a second, see proc(5). */
  private static long cpuTicks(ChildProcess process) throws IOException {
    String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }

  /** Java threads beside the JVM's own and those of Kafka's clients. */
  private static List<String> threads(ChildProcess process) throws Exception {
    Process jcmd =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(process.pid()),
                "Thread.print")
            .start();
    String dump = new String(jcmd.getInputStream().readAllBytes());
    Matcher matcher = THREAD.matcher(dump);
    return matcher
        .results()
        .map(result -> result.group(1))
        .filter(name -> !JVM.contains(name) && !name.contains("CompilerThread"))
        .filter(name -> !name.startsWith("kafka-"))
        .toList();
  }

  private static void awaitTruth(Api api, List<SimulatedEngine> engines) {
    await()
        .atMost(Duration.ofSeconds(90))
        .untilAsserted(
            () -> {
              Truth truth = new Truth();
              truth.checkPrompts(api, engines, 7, 60);
              assertThat(truth.nonZero()).isPositive();
            });
  }
}
