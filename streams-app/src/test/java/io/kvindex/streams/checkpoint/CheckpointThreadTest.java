// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.index.Journal;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

/** When journals are written, and what happens to the fold while the disk is slow or fails. */
@Timeout(120)
class CheckpointThreadTest {

  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration STEP = Duration.ofMillis(1);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);

  @TempDir Path directory;

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final RandomTable table = new RandomTable(5, 500, RandomTable.newBlocks());
  private final List<Long> written = new CopyOnWriteArrayList<>();
  private final CountDownLatch disk = new CountDownLatch(1);
  private final AtomicInteger failures = new AtomicInteger();
  private CheckpointThread behind = thread((journal, upTo) -> 0, new JournalLimits(1, LONG, LONG));

  private CheckpointThread thread(CheckpointThread.Writer writer, JournalLimits limits) {
    return new CheckpointThread(
        0,
        table.blocks(),
        table.folded(),
        writer,
        new Journal.Pieces(),
        limits,
        FIRST_PAUSE,
        metrics);
  }

  private void begin(CheckpointThread.Writer writer, JournalLimits limits) {
    behind.abandon();
    behind = thread(writer, limits);
  }

  @AfterEach
  void end() {
    disk.countDown();
    failures.set(0);
    behind.abandon();
  }

  private double counted(String name) {
    return metrics.counter(name).count();
  }

  private int record(Journal journal, Folded upTo) {
    assertThat(journal.changes()).isPositive();
    assertThat(journal.state()).isNotEmpty();
    written.add(upTo.offset());
    return journal.changes();
  }

  private int recordUnlessFailing(Journal journal, Folded upTo) throws RocksDBException {
    if (failures.get() > 0) {
      failures.incrementAndGet();
      throw new RocksDBException("no space left on device");
    }
    return record(journal, upTo);
  }

  private int recordOnceTheDiskAnswers(Journal journal, Folded upTo) {
    try {
      disk.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return record(journal, upTo);
  }

  /** One record, and what the fold does behind it. */
  private void fold() {
    table.fold();
    Folded folded = table.folded();
    behind.maybeSwap(folded.offset(), folded.sum(), folded.lineageStart());
  }

  private void foldUntil(Callable<Boolean> done) {
    await()
        .atMost(PATIENCE)
        .pollInterval(STEP)
        .until(
            () -> {
              fold();
              return done.call();
            });
  }

  private void foldUntilChanges(int changes) {
    while (table.blocks().journal().changes() < changes) {
      fold();
    }
  }

  @Test
  void shouldWriteNothing_whenNothingIsDue() {
    begin(this::record, new JournalLimits(1_000_000, LONG, PATIENCE));
    for (int i = 0; i < 100; i++) {
      fold();
    }
    assertThat(written).isEmpty();
  }

  @Test
  void shouldWriteWhatWasFolded_whenItsNumberOrItsTimeIsReached() {
    begin(this::record, new JournalLimits(200, LONG, PATIENCE));
    foldUntilChanges(100);
    long before = table.offset();
    while (table.offset() < before + 200) {
      fold();
    }
    await().atMost(PATIENCE).until(() -> !written.isEmpty());
    begin(this::record, new JournalLimits(1_000_000, Duration.ofMillis(1), PATIENCE));
    int known = written.size();
    foldUntil(() -> written.size() > known + 2);
    assertThat(written).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void shouldWriteNothing_whenItsTimeIsReachedAndNoRecordCame() {
    begin(this::record, new JournalLimits(1_000_000, Duration.ZERO, PATIENCE));
    Folded folded = table.folded();
    behind.maybeSwap(folded.offset(), folded.sum(), folded.lineageStart());
    assertThat(behind.close(folded.offset(), folded.sum(), folded.lineageStart())).isTrue();
    assertThat(written).isEmpty();
  }

  @Test
  void shouldLetTheFoldWait_whenAJournalIsFullAndTheOneBeforeIsBeingWritten() throws Exception {
    begin(this::recordOnceTheDiskAnswers, new JournalLimits(100, LONG, PATIENCE));
    Thread folding =
        new Thread(
            () -> {
              for (int i = 0; i < 1_000; i++) {
                fold();
              }
            });
    folding.start();
    await().atMost(PATIENCE).until(() -> folding.getState() == Thread.State.TIMED_WAITING);
    assertThat(table.blocks().journal().changes()).isBetween(200, 2_000);
    assertThat(written).isEmpty();
    disk.countDown();
    folding.join();
    Folded folded = table.folded();
    assertThat(behind.close(folded.offset(), folded.sum(), folded.lineageStart())).isTrue();
    assertThat(written).isSorted().doesNotHaveDuplicates().endsWith(table.offset());
    CheckpointState state = behind.state();
    assertThat(counted("kvindex.checkpoint.wait.seconds")).isPositive();
    assertThat(state.stopped()).isFalse();
    assertThat(state.folded()).isEqualTo(folded);
  }

  @Test
  void shouldGoOnWithoutJournal_whenItIsFullAndTheDiskDoesNotAnswer() {
    begin(this::recordOnceTheDiskAnswers, new JournalLimits(100, LONG, Duration.ofMillis(50)));
    for (int i = 0; i < 1_000; i++) {
      fold();
    }
    assertThat(behind.state().stopped()).isTrue();
    assertThat(table.blocks().journal().changes()).isZero();
    assertThat(written).isEmpty();
  }

  @Test
  void shouldGoOnAndSayHowOldItIs_whenAJournalIsFullAndTheDiskFails() {
    begin(this::recordUnlessFailing, new JournalLimits(100, LONG, PATIENCE));
    foldUntilChanges(90);
    foldUntil(() -> written.size() > 1);
    failures.set(1);
    foldUntil(() -> behind.state().stopped());
    CheckpointState state = behind.state();
    assertThat(state.failing()).isTrue();
    assertThat(counted("kvindex.checkpoint.failures")).isPositive();
    assertThat(state.folded().offset()).isEqualTo(written.get(written.size() - 1));
    assertThat(state.age()).isPositive();
    assertThat(table.blocks().journal().isKept()).isFalse();
    fold();
    // The one that waits is written as soon as the disk lets it, and nothing after it.
    int known = written.size();
    failures.set(0);
    await().atMost(PATIENCE).until(() -> written.size() == known + 1);
    await().atMost(PATIENCE).until(() -> !behind.state().failing());
    assertThat(behind.state().stopped()).isTrue();
    Folded folded = table.folded();
    assertThat(behind.close(folded.offset(), folded.sum(), folded.lineageStart())).isFalse();
    assertThat(written).hasSize(known + 1);
  }

  @Test
  void shouldLoseNothing_whenTheDiskFailsForAWhile() {
    begin(this::recordUnlessFailing, new JournalLimits(100, LONG, PATIENCE));
    failures.set(1);
    foldUntilChanges(99);
    await()
        .atMost(PATIENCE)
        .pollInterval(STEP)
        .until(
            () -> {
              if (!behind.state().failing()) {
                fold();
              }
              return behind.state().failing();
            });
    failures.set(0);
    await().atMost(PATIENCE).until(() -> !behind.state().failing());
    Folded folded = table.folded();
    assertThat(behind.close(folded.offset(), folded.sum(), folded.lineageStart())).isTrue();
    assertThat(written).endsWith(table.offset());
  }

  /** Tries that fail, and starts in between. */
  @Test
  void shouldEqualATableThatNeverStopped_whenWritingFailsNowAndThen() throws Exception {
    long seed = TestSeed.of(CheckpointThreadTest.class);
    SplittableRandom random = new SplittableRandom(seed);
    RandomTable reference = new RandomTable(seed, RandomTable.HASHES, RandomTable.newBlocks());
    for (int start = 0; start < 6; start++) {
      Checkpoint checkpoint = Checkpoint.open(directory, RandomTable.TOPIC, 0);
      RandomTable one = RandomTable.load(checkpoint, seed);
      reference.foldTo(one.offset(), t -> {});
      assertThat(one.differences(reference)).as("seed %d start %d", seed, start).isEmpty();
      SplittableRandom faults = random.split();
      CheckpointThread thread =
          new CheckpointThread(
              0,
              one.blocks(),
              one.folded(),
              (journal, upTo) -> {
                if (faults.nextInt(5) == 0) {
                  throw new RocksDBException("now and then");
                }
                return checkpoint.write(journal, upTo);
              },
              new Journal.Pieces(),
              new JournalLimits(300, Duration.ofMillis(20), PATIENCE),
              FIRST_PAUSE,
              metrics);
      long end = one.offset() + 200 + random.nextInt(400);
      while (one.offset() < end) {
        if (thread.state().failing()) {
          await().atMost(PATIENCE).pollInterval(STEP).until(() -> !thread.state().failing());
        }
        one.fold();
        Folded folded = one.folded();
        thread.maybeSwap(folded.offset(), folded.sum(), folded.lineageStart());
      }
      if (random.nextBoolean()) {
        thread.abandon();
      } else {
        Folded folded = one.folded();
        thread.close(folded.offset(), folded.sum(), folded.lineageStart());
      }
      checkpoint.close();
    }
    assertThat(reference.offset()).isPositive();
  }
}
