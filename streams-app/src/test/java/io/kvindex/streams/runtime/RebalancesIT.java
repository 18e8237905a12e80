// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.broker.SharedBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two processes of one copy, between which partitions go to and fro while records come. */
@Timeout(120)
class RebalancesIT {

  private static final long SEED = System.nanoTime();
  private static final int ROUNDS = 16;
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration FRESH = Duration.ofSeconds(2);
  private static final int MARKS = 400;

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
        until(one, two, log);
        bombs.set(round % 3 == 0 ? 1 : 0);
        two.stop();
        until(one, two, log);
        bombs.set(round % 3 == 1 ? 1 : 0);
      }
      log.stopWriting();
      until(one, two, log);
      assertThat(one.complaints).isEmpty();
      assertThat(two.complaints).isEmpty();
      assertThat(one.deadThreads.get() + two.deadThreads.get()).isZero();
      assertEachIsAPlainFold(log, one);
      assertEachIsAPlainFold(log, two);
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

  /** Waits until all that is there now is folded in one of the two. */
  private static void until(TestProcess one, TestProcess two, TestLog log) throws Exception {
    long[] lasts = log.lasts();
    await().atMost(LONG).pollInterval(Duration.ofMillis(10)).until(() -> hasAll(lasts, one, two));
  }

  private static boolean hasAll(long[] lasts, TestProcess... processes) {
    for (int p = 0; p < lasts.length; p++) {
      long best = -1;
      for (TestProcess process : processes) {
        best = Math.max(best, process.folded(p));
      }
      if (best < lasts[p]) {
        return false;
      }
    }
    return true;
  }

  private static void assertEachIsAPlainFold(TestLog log, TestProcess process) throws Exception {
    List<List<ConsumerRecord<byte[], byte[]>>> records = log.read();
    for (int p = 0; p < TestLog.PARTITIONS; p++) {
      ChainTable.State state = process.state(p);
      if (state != null) {
        assertThat(state)
            .as(process.name + "/" + p)
            .isEqualTo(TestLog.fold(ChainTable.State.EMPTY, records.get(p), state.offset()));
      }
    }
  }

  private static boolean hasATable(TestProcess process) {
    return IntStream.range(0, TestLog.PARTITIONS)
        .anyMatch(p -> process.tables().at(p).isFollowed());
  }

  /** As while what another process had is being borrowed: Kafka Streams asks for it again. */
  @Test
  void shouldKeepUpTheOthers_whileATableIsBeingLoaded() throws Exception {
    CountDownLatch mayLoad = new CountDownLatch(1);
    try (TestLog log = new TestLog(SEED);
        TestProcess one = new TestProcess("one", SharedBroker.unique("copy"), log, dir, SEED)) {
      one.loadHook =
          partition -> {
            if (partition == 0) {
              awaitOrThrow(mayLoad);
            }
          };
      log.startWriting(1000);
      one.start(1);
      await()
          .atMost(LONG)
          .until(() -> IntStream.of(1, 2, 3).allMatch(p -> one.tables().at(p).isFollowed()));
      long slowestMs = 0;
      for (int mark = 0; mark < MARKS; mark++) {
        long[] lasts = log.lasts();
        lasts[0] = -1;
        long sinceNs = System.nanoTime();
        await()
            .atMost(FRESH)
            .pollInterval(Duration.ofMillis(5))
            .until(() -> hasAll(lasts, one, one));
        slowestMs = Math.max(slowestMs, (System.nanoTime() - sinceNs) / 1_000_000);
      }
      System.out.println("the slowest of " + MARKS + " was folded after ms " + slowestMs);
      assertThat(one.tables().at(0).state()).isEqualTo(TableState.LOADING);
      mayLoad.countDown();
      log.stopWriting();
      until(one, one, log);
      assertThat(one.complaints).isEmpty();
      assertThat(one.deadThreads).hasValue(0);
      assertEachIsAPlainFold(log, one);
    }
  }

  /** The group takes it for dead and gives its partitions away; it writes on when it wakes up. */
  @Test
  void shouldHaveOneWriter_whenAThreadStandsStill() throws Exception {
    String application = SharedBroker.unique("copy");
    CountDownLatch wakesUp = new CountDownLatch(1);
    AtomicReference<@Nullable String> still = new AtomicReference<>();
    try (TestLog log = new TestLog(SEED);
        TestProcess one = new TestProcess("one", application, log, dir, SEED)) {
      one.site.put("consumer.session.timeout.ms", 1_000);
      one.site.put("main.consumer.max.poll.interval.ms", 1_000);
      one.hook =
          (partition, offset) -> {
            if (offset == 100 && still.compareAndSet(null, Thread.currentThread().getName())) {
              awaitOrThrow(wakesUp);
            }
          };
      log.startWriting(1000);
      one.startLoaded(2);
      await().atMost(LONG).until(() -> still.get() != null && members(log, application) == 1);
      wakesUp.countDown();
      until(one, one, log);
      log.stopWriting();
      until(one, one, log);
      assertThat(one.complaints).isEmpty();
      assertEachIsAPlainFold(log, one);
      assertThat(one.refusals).isEmpty();
      assertThat(one.deadThreads).hasValue(0);
    }
  }

  private static int members(TestLog log, String application) throws Exception {
    return Objects.requireNonNull(
            log.admin.describeConsumerGroups(List.of(application)).all().get().get(application))
        .members()
        .size();
  }

  private static void awaitOrThrow(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
