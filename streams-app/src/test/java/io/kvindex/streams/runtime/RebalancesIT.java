// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.broker.SharedBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two processes of one copy, between which partitions go to and fro while records come. */
@Timeout(120)
class RebalancesIT {

  private static final long SEED = TestSeed.of(RebalancesIT.class);
  private static final int ROUNDS = 12;
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir private Path dir;
  private final Random random = new Random(SEED);
  private final AtomicInteger bombs = new AtomicInteger();

  @Test
  void shouldFoldEachRecordOnce_whateverBecomesOfTasks() throws Exception {
    long beganNs = System.nanoTime();
    String application = SharedBroker.unique("copy");
    try (TestLog log = new TestLog(SEED);
        TestProcess one = new TestProcess("one", application, log, dir, SEED + 1);
        TestProcess two = new TestProcess("two", application, log, dir, SEED + 2)) {
      one.hook = (partition, offset) -> explode();
      two.hook = one.hook;
      one.slowestLoadMs = 300;
      two.slowestLoadMs = 300;
      log.startWriting(2000);
      one.startLoaded(2);
      for (int round = 0; round < ROUNDS; round++) {
        if (round % 4 == 0) {
          two.replace();
        }
        two.start(1 + round % 2);
        await().atMost(LONG).until(() -> hasATable(two));
        TestProcess.awaitAll(log, one, two);
        bombs.set(round % 3 == 0 ? 1 : 0);
        two.stop();
        TestProcess.awaitAll(log, one, two);
        bombs.set(round % 3 == 1 ? 1 : 0);
      }
      log.stopWriting();
      TestProcess.awaitAll(log, one, two);
      assertThat(one.complaints).isEmpty();
      assertThat(two.complaints).isEmpty();
      assertThat(one.deadThreads.get() + two.deadThreads.get()).isZero();
      one.assertEachIsAPlainFold();
      two.assertEachIsAPlainFold();
      assertThat(one.refused(Refusal.Cause.LOG_LOST_END)).isZero();
      assertThat(two.refused(Refusal.Cause.LOG_LOST_END)).isZero();
      System.out.printf(
          "rebalances %d of %d noticed, folds failed %.0f + %.0f, loads %d + %d, records out of turn %.0f + %.0f,"
              + " ms %d%n",
          one.rebalances.get(),
          2 * ROUNDS,
          one.refused(Refusal.Cause.FOLD_FAILED),
          two.refused(Refusal.Cause.FOLD_FAILED),
          one.loads.get(),
          two.loads.get(),
          one.metrics.counter("kvindex.log.doubts").count(),
          two.metrics.counter("kvindex.log.doubts").count(),
          (System.nanoTime() - beganNs) / 1_000_000);
      assertThat(one.refused(Refusal.Cause.FOLD_FAILED)).isPositive();
    }
  }

  /** As many folds as were asked for break off, anywhere. */
  private void explode() {
    int left = bombs.get();
    if (left > 0 && random.nextInt(40) == 0 && bombs.compareAndSet(left, left - 1)) {
      throw new IllegalStateException("bomb");
    }
  }

  private static boolean hasATable(TestProcess process) {
    return IntStream.range(0, TestLog.PARTITIONS)
        .anyMatch(p -> process.tables().at(p).isFollowed());
  }
}
