// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.broker.SharedBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process in which a load, or a thread, stands still while records come. */
@Timeout(120)
class StandstillIT {

  private static final long SEED = TestSeed.of(StandstillIT.class);
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration FRESH = Duration.ofSeconds(2);
  private static final int MARKS = 400;

  @TempDir private Path dir;

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
            .until(() -> TestProcess.haveAll(lasts, one));
        slowestMs = Math.max(slowestMs, (System.nanoTime() - sinceNs) / 1_000_000);
      }
      System.out.println("the slowest of " + MARKS + " was folded after ms " + slowestMs);
      assertThat(one.tables().at(0).state()).isEqualTo(TableState.LOADING);
      mayLoad.countDown();
      log.stopWriting();
      TestProcess.awaitAll(log, one);
      assertThat(one.complaints).isEmpty();
      assertThat(one.deadThreads).hasValue(0);
      one.assertEachIsAPlainFold();
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
      TestProcess.awaitAll(log, one);
      log.stopWriting();
      TestProcess.awaitAll(log, one);
      assertThat(one.complaints).isEmpty();
      one.assertEachIsAPlainFold();
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
