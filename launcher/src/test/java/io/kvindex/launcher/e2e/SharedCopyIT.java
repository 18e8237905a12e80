// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** Two processes share one copy, and a whole one stands beside them, or does not. */
@Tag("broker")
class SharedCopyIT {

  private static final long SEED = TestSeed.of(SharedCopyIT.class);
  private static final int PARTITIONS = 12;
  private static final int LATE_ONE_IN = 300;
  private static final Duration LONG = Duration.ofSeconds(120);
  private static final Duration FRESH = Duration.ofSeconds(2);

  /** How much the processes can bear is not asked here, and there are five of them. */
  private static final Duration STEP = Duration.ofMillis(20);

  /** Tables of partitions of their own. */
  private static final List<String> TENANTS = tenants(6);

  /** What the processes wrote is kept if something went wrong. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  private final AtomicBoolean over = new AtomicBoolean();
  private final Queue<String> problems = new ConcurrentLinkedQueue<>();

  private static List<String> tenants(int number) {
    Map<Integer, String> byPartition = new TreeMap<>();
    for (int i = 0; byPartition.size() < number; i++) {
      byPartition.putIfAbsent(partition("t" + i), "t" + i);
    }
    return List.copyOf(byPartition.values());
  }

  private static int partition(String tenant) {
    return TablePartition.of(tenant, Api.MODEL, 16, PARTITIONS);
  }

  @Test
  @Timeout(400)
  void shouldAnswerAllAndStayFresh_whenOneOfACopyIsKilled() throws Exception {
    try (LoadedEngines quiet = engines("quiet", SEED);
        LoadedEngines busy = engines("busy", SEED + 1);
        LoadedEngines marked = engines("marked", SEED + 2);
        BrokerProcess broker = BrokerProcess.start(directory);
        ChildProcess bridge = broker.bridge();
        ServerProcess whole = index("whole", "b", broker);
        ServerProcess first = index("first", "a", broker)) {
      whole.awaitReady();
      for (LoadedEngines some : List.of(quiet, busy, marked)) {
        for (int i = 0; i < TENANTS.size(); i++) {
          whole.api().register(some.engines().get(i), TENANTS.get(i));
        }
      }
      quiet.send(300);
      busy.start();
      first.awaitReady();
      assertThat(held(first.api())).as("a copy of one process").hasSize(PARTITIONS);
      try (ServerProcess second = index("second", "a", broker)) {
        second.awaitReady();
        awaitShared(first.api(), second.api());
        awaitTruth(List.of(whole.api(), first.api(), second.api()), quiet);

        Set<Integer> own = held(second.api());
        List<Thread> watching =
            List.of(
                inBackground(() -> askAll(second.api(), whole.api(), quiet)),
                inBackground(() -> askAll(whole.api(), second.api(), quiet)),
                inBackground(() -> mark(second.api(), marked, own)),
                inBackground(() -> assertKeptUp(second.api(), own)));
        bridge.letRun(3_000);
        first.process().kill();
        await()
            .atMost(LONG)
            .until(() -> ready(second.api()).size() == PARTITIONS || !problems.isEmpty());
        bridge.letRun(3_000);
        end(watching);
        assertThat(second.api().isReady()).isTrue();

        first.process().restart();
        first.awaitReady();
        awaitShared(first.api(), second.api());
        busy.pause();
        awaitTruth(List.of(whole.api(), first.api(), second.api()), quiet);
        await()
            .atMost(LONG)
            .pollInterval(Duration.ofMillis(500))
            .untilAsserted(
                () -> {
                  Map<Integer, String> ofCopy = digests(first.api());
                  ofCopy.putAll(digests(second.api()));
                  assertThat(ofCopy)
                      .hasSizeGreaterThanOrEqualTo(TENANTS.size())
                      .isEqualTo(digests(whole.api()));
                });
        assertRefusesWhatNobodyHas(whole, second, first.api(), quiet);
      }
      broker.requireAlive();
      bridge.requireAlive();
    }
  }

  /** Nobody else has what the one that is killed had, and the one that is left had none of it. */
  private void assertRefusesWhatNobodyHas(
      ServerProcess whole, ServerProcess killed, Api left, LoadedEngines quiet) throws Exception {
    Set<Integer> own = held(left);
    whole.process().kill();
    killed.process().kill();
    Truth truth = new Truth();
    Random random = new Random(SEED);
    int refused = 0;
    long killedNs = System.nanoTime();
    Set<String> told = new TreeSet<>();
    while (told.size() < TENANTS.size() && msSince(killedNs) < LONG.toMillis()) {
      for (int i = 0; i < TENANTS.size(); i++) {
        String tenant = TENANTS.get(i);
        try {
          int[] prompt = LoadedEngines.prompt(random);
          truth.check(left.query(tenant, prompt, null, 16), quiet.engines().get(i), prompt, null);
          told.add(tenant);
        } catch (Api.Refusal e) {
          assertThat(own).doesNotContain(partition(tenant));
          assertThat(told).doesNotContain(tenant);
          assertThat(e).hasMessageContaining("answered 503").hasMessageContaining("\"not_ready\"");
          if (refused++ == 0) {
            await().atMost(FRESH).until(() -> !left.isReady());
          }
        }
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    assertThat(told).as("after %d ms", msSince(killedNs)).hasSize(TENANTS.size());
    assertThat(refused).as("refused").isPositive();
    assertThat(truth.nonZero()).isPositive();
    await().atMost(LONG).until(left::isReady);
  }

  // ------------------------------------------------------------------- what goes on meanwhile

  private Thread inBackground(Runnable round) {
    Thread thread =
        new Thread(
            () -> {
              while (!over.get() && problems.isEmpty()) {
                try {
                  round.run();
                } catch (RuntimeException | AssertionError e) {
                  problems.add(Thread.currentThread().getName() + ": " + e);
                }
              }
            });
    thread.start();
    return thread;
  }

  private void end(List<Thread> watching) throws InterruptedException {
    over.set(true);
    for (Thread one : watching) {
      one.join();
    }
    assertThat(problems).isEmpty();
    assertThat(late.get())
        .as("late of %s", asked)
        .isLessThanOrEqualTo(Math.max(1, asked.get() / LATE_ONE_IN));
    assertThat(marks).as("marks").hasPositiveValue();
    assertThat(slowestMs.get())
        .as("ms until the slowest mark was seen")
        .isLessThanOrEqualTo((int) FRESH.toMillis());
  }

  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger late = new AtomicInteger();
  private final AtomicInteger marks = new AtomicInteger();
  private final AtomicInteger slowestMs = new AtomicInteger();

  /**
   * Every answer is right, whoever gives it. One that is not there in time, on a machine that other
   * tests share, the other replica has to give, as for any router; that is seldom.
   */
  private void askAll(Api one, Api other, LoadedEngines quiet) {
    Random random = new Random(SEED + asked.get());
    for (int i = 0; i < TENANTS.size(); i++) {
      int[] prompt = LoadedEngines.prompt(random);
      JsonNode rows;
      try {
        rows = one.query(TENANTS.get(i), prompt, null, 16);
      } catch (Api.Refusal e) {
        assertThat(e).hasMessageContaining("no answer in time");
        late.incrementAndGet();
        rows = other.query(TENANTS.get(i), prompt, null, 16);
      }
      new Truth().check(rows, quiet.engines().get(i), prompt, null);
      asked.incrementAndGet();
    }
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(30));
  }

  /** How long an event takes from the engine until the replica shows it. */
  private void mark(Api api, LoadedEngines marked, Set<Integer> partitions) {
    for (int i = 0; i < TENANTS.size(); i++) {
      String tenant = TENANTS.get(i);
      if (partitions.contains(partition(tenant))) {
        SimulatedEngine engine = marked.engines().get(i);
        int[] prompt = new int[32];
        prompt[0] = 1_000_000 + marks.incrementAndGet();
        engine.prefill(prompt, null, null);
        engine.flush();
        long sentNs = System.nanoTime();
        while (api.query(tenant, prompt, null, 16)
                .path(engine.options().name())
                .path("longest_matched")
                .asInt()
            == 0) {
          if (msSince(sentNs) > 5 * FRESH.toMillis()) {
            throw new AssertionError("partition " + partition(tenant) + " stands still");
          }
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
        slowestMs.accumulateAndGet((int) msSince(sentNs), Math::max);
      }
    }
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
  }

  private static void assertKeptUp(Api api, Set<Integer> partitions) {
    assertThat(ready(api)).containsAll(partitions);
    assertThat(api.isReady()).isTrue();
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
  }

  private static long msSince(long ns) {
    return (System.nanoTime() - ns) / 1_000_000;
  }

  // ------------------------------------------------------------------- what a replica has

  /** Partitions a replica has anything of. */
  private static Set<Integer> held(Api api) {
    return parts(api, false);
  }

  /** Those it keeps up. */
  private static Set<Integer> ready(Api api) {
    return parts(api, true);
  }

  private static Set<Integer> parts(Api api, boolean onlyReady) {
    Set<Integer> partitions = new TreeSet<>();
    for (JsonNode one : api.get("/cluster").at("/replicas/0/partitions")) {
      if (!onlyReady || one.path("phase").asText().equals("ready")) {
        partitions.add(one.path("partition").asInt());
      }
    }
    return partitions;
  }

  /** Each partition is with one of the two alone, and both have some. */
  private static void awaitShared(Api one, Api other) {
    await()
        .atMost(LONG)
        .untilAsserted(
            () -> {
              Set<Integer> first = held(one);
              Set<Integer> second = held(other);
              assertThat(first).isNotEmpty().isEqualTo(ready(one));
              assertThat(second).isNotEmpty().isEqualTo(ready(other));
              assertThat(first).noneMatch(second::contains);
              assertThat(first.size() + second.size()).isEqualTo(PARTITIONS);
            });
  }

  /** By partition: how far it is folded, where the streams are, what each owner holds. */
  private static Map<Integer, String> digests(Api api) {
    Map<Integer, String> digests = new TreeMap<>();
    for (JsonNode one : api.get("/digests").path("partitions")) {
      TreeSet<String> all = new TreeSet<>();
      one.path("owners").forEach(owner -> all.add(owner.toString()));
      all.add(one.path("positions").toString());
      digests.put(one.path("partition").asInt(), one.path("applied_offset").asLong() + " " + all);
    }
    return digests;
  }

  private static void awaitTruth(List<Api> apis, LoadedEngines quiet) {
    await()
        .atMost(LONG)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              Truth truth = new Truth();
              Random random = new Random(SEED);
              for (Api api : apis) {
                for (int i = 0; i < TENANTS.size(); i++) {
                  int[] prompt = LoadedEngines.prompt(random);
                  truth.check(
                      api.query(TENANTS.get(i), prompt, null, 16),
                      quiet.engines().get(i),
                      prompt,
                      null);
                }
              }
              assertThat(truth.nonZero()).isPositive();
            });
  }

  private static LoadedEngines engines(String name, long seed) {
    return new LoadedEngines(name, TENANTS.size(), seed, STEP, options -> {});
  }

  private ServerProcess index(String name, String copy, BrokerProcess broker) throws IOException {
    return ServerProcess.index(
        name,
        Files.createDirectories(directory.resolve(name)),
        broker.address(),
        Map.of("KVINDEX_COPY", copy));
  }
}
