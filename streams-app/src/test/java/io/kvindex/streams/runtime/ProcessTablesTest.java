// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.errors.LockException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ProcessTablesTest {

  private static final Refusal LOST = new Refusal(Refusal.Cause.LOG_LOST_END, 5, "lost");

  private final Queue<String> complaints = new ConcurrentLinkedQueue<>();
  private final Queue<ChainTable> made = new ConcurrentLinkedQueue<>();
  private final Map<Integer, ChainTable.State> disk = new ConcurrentHashMap<>();
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();

  private ProcessTables tables(TableLoader loader) {
    return new ProcessTables(4, 2, () -> Uuid.ONE_UUID, loader, metrics, Duration.ofMillis(20));
  }

  private ChainTable table(int partition) {
    ChainTable table =
        new ChainTable(
            ChainTable.State.EMPTY,
            state -> disk.put(partition, state),
            offset -> {},
            complaints::add);
    made.add(table);
    return table;
  }

  private static FoldedTable take(ProcessTables tables, int partition, Object task) {
    List<FoldedTable> taken = new ArrayList<>();
    await()
        .pollInterval(Duration.ofMillis(1))
        .ignoreException(LockException.class)
        .until(() -> taken.add(tables.at(partition).take(task)));
    return taken.get(0);
  }

  @Test
  void shouldCountFromZeroAndSayWhat_beforeAnythingHappens() {
    try (ProcessTables tables = tables((p, topic, before) -> table(p))) {
      assertThat(tables.partitions()).isEqualTo(4);
      assertThat(metrics.getMeters())
          .filteredOn(Counter.class::isInstance)
          .hasSize(3 + Refusal.Cause.values().length)
          .allSatisfy(meter -> assertThat(meter.getId().getDescription()).isNotBlank());
    }
  }

  @Test
  void shouldLoadAllBeforeATaskIsThere_asManyAtATimeAsAllowed() throws Exception {
    AtomicInteger atOnce = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Semaphore goesOn = new Semaphore(0);
    try (ProcessTables tables =
        tables(
            (partition, topic, before) -> {
              most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
              goesOn.acquire();
              atOnce.decrementAndGet();
              return table(partition);
            })) {
      assertThat(tables.at(0).state()).isEqualTo(TableState.ABSENT);
      Future<Void> all = tables.loadAll();
      await().until(() -> atOnce.get() == 2);
      assertThat(tables.at(3).state()).isEqualTo(TableState.LOADING);
      assertThat(tables.at(0).view()).isNull();
      assertThat(all.isDone()).isFalse();
      goesOn.release(4);
      all.get(10, TimeUnit.SECONDS);
      assertThat(most).hasValue(2);
      for (int p = 0; p < 4; p++) {
        assertThat(tables.at(p).state()).isEqualTo(TableState.READY);
        assertThat(tables.at(p).view()).isNotNull();
        assertThat(tables.at(p).topicId()).isEqualTo(Uuid.ONE_UUID);
        assertThat(tables.at(p).isFollowed()).isFalse();
      }
      assertThat(tables.loadAll()).isDone();
      assertThat(made).hasSize(4);
    }
    assertThat(made).allSatisfy(table -> assertThat(table.ended()).isEqualTo("closed"));
    assertThat(disk).hasSize(4);
  }

  @Test
  void shouldGiveTheSameTableToTheNextTask_whenOneIsClosed() {
    try (ProcessTables tables = tables((p, topic, before) -> table(p))) {
      assertThatThrownBy(() -> tables.at(1).take("a")).isInstanceOf(LockException.class);
      FoldedTable first = take(tables, 1, "a");
      assertThat(tables.at(1).isFollowed()).isTrue();
      assertThatThrownBy(() -> tables.at(1).take("b")).isInstanceOf(LockException.class);
      tables.at(1).release("b");
      assertThatThrownBy(() -> tables.at(1).take("b")).isInstanceOf(LockException.class);
      tables.at(1).release("a");
      assertThat(tables.at(1).isFollowed()).isFalse();
      assertThat(tables.at(1).inUse()).isSameAs(first);
      assertThat(tables.at(1).take("b")).isSameAs(first);
      tables.at(1).release("b");
    }
  }

  @Test
  void shouldLetGoOfARefusedTable_onlyWhenItsTaskHas() {
    Queue<String> loads = new ConcurrentLinkedQueue<>();
    try (ProcessTables tables =
        tables(
            (p, topic, before) -> {
              made.forEach(t -> assertThat(t.ended()).isEqualTo("abandoned"));
              loads.add(String.valueOf(before));
              return table(p);
            })) {
      FoldedTable first = take(tables, 0, "a");
      tables.at(0).refuse(first, LOST, null);
      tables.at(0).refuse(first, LOST, null); // somebody else finds the same
      assertThat(tables.at(0).state()).isEqualTo(TableState.FAILED);
      assertThat(tables.at(0).failure()).isEqualTo("lost");
      assertThat(tables.at(0).view()).isNull();
      assertThatThrownBy(() -> tables.at(0).take("b")).isInstanceOf(LockException.class);
      first.fold(0, 0, null, null, 1);
      assertThat(loads).hasSize(1);
      tables.at(0).release("a");
      FoldedTable second = take(tables, 0, "b");
      assertThat(second).isNotSameAs(first);
      assertThat(loads).containsExactly("null", LOST.toString());
      tables.at(0).refuse(first, LOST, null); // too late: it is another one
      assertThat(tables.at(0).state()).isEqualTo(TableState.READY);
      assertThat(tables.at(0).failure()).isEmpty();
      tables.at(0).release("b");
    }
    assertThat(metrics.counter("kvindex.tables.refused", "cause", "log_lost_end").count()).isOne();
    assertThat(complaints).isEmpty();
  }

  @Test
  void shouldTryAgainAndRememberWhy_whenALoadFails() {
    AtomicInteger tries = new AtomicInteger();
    Queue<String> reasons = new ConcurrentLinkedQueue<>();
    try (ProcessTables tables =
        tables(
            (p, topic, before) -> {
              reasons.add(String.valueOf(before));
              if (tries.incrementAndGet() % 3 != 1) {
                throw new IllegalStateException("try " + tries);
              }
              return table(p);
            })) {
      FoldedTable first = take(tables, 0, "a");
      tables.at(0).refuse(first, LOST, null);
      tables.at(0).release("a");
      await().until(() -> tables.at(0).failure().contains("try 2"));
      take(tables, 0, "b");
      tables.at(0).release("b");
    }
    assertThat(reasons).containsExactly("null", LOST.toString(), LOST.toString(), LOST.toString());
    assertThat(metrics.counter("kvindex.tables.load.failures").count()).isEqualTo(2);
  }

  @Test
  void shouldWaitLongerEachTime_whenATableFailsOverAndOver() {
    AtomicLong loads = new AtomicLong();
    try (ProcessTables tables =
        new ProcessTables(
            1,
            1,
            () -> Uuid.ONE_UUID,
            (p, topic, before) -> {
              loads.incrementAndGet();
              throw new IllegalStateException("never");
            },
            metrics,
            Duration.ofMinutes(1))) {
      long beganNs = System.nanoTime();
      while (System.nanoTime() - beganNs < 1_000_000_000L) {
        assertThatThrownBy(() -> tables.at(0).take("a")).isInstanceOf(LockException.class);
      }
      // At once, after 0, 250 and 500 ms more.
      assertThat(loads.get()).isBetween(2L, 4L);
    }
  }

  @Test
  void shouldNotWaitForALoad_whenTheProcessEnds() {
    CountDownLatch begun = new CountDownLatch(1);
    ProcessTables tables =
        tables(
            (p, topic, before) -> {
              begun.countDown();
              new CountDownLatch(1).await();
              return table(p);
            });
    Future<Void> all = tables.loadAll();
    await().until(() -> begun.getCount() == 0);
    tables.close();
    assertThat(all.isDone()).isTrue();
    assertThat(made).isEmpty();
    assertThatThrownBy(() -> tables.at(0).take("a")).isInstanceOf(LockException.class);
  }

  @Test
  void shouldLeaveATableAlone_whenATaskStillWritesIt() {
    ProcessTables tables = tables((p, topic, before) -> table(p));
    FoldedTable taken = take(tables, 0, "a");
    tables.close();
    taken.fold(0, 0, null, null, 1);
    assertThat(complaints).isEmpty();
    assertThat(disk).containsOnlyKeys(0); // its own checkpoint
  }

  @Test
  void shouldBeReadFromMemory_whenItIsClosed() {
    ProcessTables tables = tables((p, topic, before) -> table(p));
    Object view = take(tables, 0, "a").view();
    tables.at(0).release("a");
    tables.close();
    assertThat(tables.at(0).view()).isSameAs(view);
    assertThat(tables.at(0).isFollowed()).isFalse();
    assertThatThrownBy(() -> tables.at(0).take("b")).isInstanceOf(LockException.class);
  }

  /** Another process of the copy has it by then. */
  @Test
  void shouldPutATableAwayAndLoadItAgain_onlyWhereNoTaskHasIt() {
    try (ProcessTables tables = tables((p, topic, before) -> restored(p, before))) {
      FoldedTable first = take(tables, 0, "a");
      first.fold(0, 0, null, null, 1);
      tables.at(0).letGo(Duration.ZERO);
      assertThat(tables.at(0).inUse()).as("a task writes it").isSameAs(first);
      tables.at(0).release("a");
      tables.at(0).letGo(Duration.ofMinutes(1));
      assertThat(tables.at(0).inUse()).as("a moment ago one did").isSameAs(first);
      tables.at(0).letGo(Duration.ZERO);
      assertThat(tables.at(0).view()).isNull();
      tables.at(0).letGo(Duration.ZERO);
      await().until(() -> tables.at(0).state() == TableState.ABSENT);
      assertThat(made).singleElement().satisfies(t -> assertThat(t.ended()).isEqualTo("closed"));
      assertThat(take(tables, 0, "b").foldedOffset()).as("from its last checkpoint").isZero();
      tables.at(0).release("b");
    }
    assertThat(complaints).isEmpty();
  }

  @Test
  void shouldLeaveTheDiskAsItIs_whenTheProcessEndsBeforeATableIsPutAway() {
    CountDownLatch isBusy = new CountDownLatch(1);
    ProcessTables tables =
        new ProcessTables(
            2,
            1,
            () -> Uuid.ONE_UUID,
            (p, topic, before) -> {
              if (p == 1) {
                isBusy.countDown();
                new CountDownLatch(1).await();
              }
              return table(p);
            },
            metrics,
            Duration.ofMinutes(1));
    take(tables, 0, "a");
    tables.at(0).release("a");
    assertThatThrownBy(() -> tables.at(1).take("b")).isInstanceOf(LockException.class);
    await().until(() -> isBusy.getCount() == 0);
    tables.at(0).letGo(Duration.ZERO);
    tables.close();
    assertThat(made).singleElement().satisfies(t -> assertThat(t.ended()).isEqualTo("abandoned"));
  }

  /** Tasks of several threads take, write, refuse and release as they like. */
  @Test
  void shouldHaveOneWriterAtATime_whateverTasksDo() throws Exception {
    long seed = TestSeed.of(ProcessTablesTest.class);
    int threads = 4;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    AtomicLong folded = new AtomicLong();
    List<Future<?>> running = new ArrayList<>();
    try (ProcessTables tables = tables((p, topic, before) -> restored(p, before))) {
      for (int t = 0; t < threads; t++) {
        Random random = new Random(seed + t);
        running.add(pool.submit(() -> work(tables, random, folded)));
      }
      for (Future<?> one : running) {
        one.get(20, TimeUnit.SECONDS);
      }
      // Those refused last wait for their next load; what is in use at the end is closed.
      await()
          .until(
              () -> {
                tables.loadAll();
                return IntStream.range(0, 4)
                    .allMatch(p -> tables.at(p).state() == TableState.READY);
              });
    } finally {
      pool.shutdownNow();
    }
    assertThat(complaints).isEmpty();
    assertThat(folded.get()).isPositive();
    assertThat(made.stream().map(ChainTable::ended)).containsOnly("closed", "abandoned");
    System.out.println("folded " + folded + " in " + made.size() + " tables");
  }

  private ChainTable restored(int partition, @Nullable Refusal before) {
    assertThat(before == null || before.equals(LOST)).isTrue();
    ChainTable.State saved = disk.getOrDefault(partition, ChainTable.State.EMPTY);
    ChainTable table =
        new ChainTable(saved, state -> disk.put(partition, state), offset -> {}, complaints::add);
    made.add(table);
    return table;
  }

  private void work(ProcessTables tables, Random random, AtomicLong folded) {
    int turns = 300;
    while (turns > 0) {
      int partition = random.nextInt(4);
      Object task = new Object();
      FoldedTable table;
      try {
        table = tables.at(partition).take(task);
      } catch (LockException e) {
        Thread.onSpinWait();
        continue;
      }
      turns--;
      for (int n = random.nextInt(20); n > 0; n--) {
        table.fold(table.foldedOffset() + 1, 0, null, null, random.nextLong());
        folded.incrementAndGet();
      }
      if (random.nextInt(50) == 0) {
        tables
            .at(partition)
            .refuse(Objects.requireNonNull(tables.at(partition).inUse()), LOST, null);
      }
      tables.at(partition).release(task);
      if (random.nextInt(20) == 0) {
        tables.at(partition).letGo(Duration.ZERO);
      }
    }
  }
}
