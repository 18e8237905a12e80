// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.streams.index.Journal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

/** When journals are handed over, and what becomes of the fold where the disk does not keep up. */
class CheckpointThreadTest {

  private static final Uuid TOPIC = new Uuid(8, 9);
  private static final long SEED = 7;
  private static final int HASHES = 500;
  private static final Duration NEVER = Duration.ofHours(1);
  private static final JournalLimits SMALL = new JournalLimits(50, NEVER, NEVER);

  @TempDir private Path directory;
  private final Journal.Pieces pieces = new Journal.Pieces();
  private final RandomTable table = new RandomTable(SEED, HASHES, RandomTable.newBlocks());
  private final AtomicInteger failuresLeft = new AtomicInteger();
  private final List<Folded> written = new ArrayList<>();
  private volatile CountDownLatch gate = new CountDownLatch(0);
  private final AtomicInteger atTheGate = new AtomicInteger();
  private Checkpoint checkpoint;

  @BeforeEach
  void open() throws Exception {
    checkpoint = Checkpoint.open(directory, TOPIC, 0);
  }

  @AfterEach
  void close() {
    gate.countDown();
    checkpoint.close();
  }

  /** Stands for a disk: waits at the gate, fails as often as it is told to, else writes. */
  private int write(Journal journal, Folded upTo) throws RocksDBException {
    atTheGate.incrementAndGet();
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    if (failuresLeft.get() != 0) {
      failuresLeft.decrementAndGet();
      throw new RocksDBException("IO error: No space left on device");
    }
    int rows = checkpoint.write(journal, upTo);
    synchronized (written) {
      written.add(upTo);
    }
    return rows;
  }

  private CheckpointThread begin(JournalLimits limits) {
    return new CheckpointThread(0, table.blocks(), Folded.NOTHING, this::write, pieces, limits);
  }

  private void fold(CheckpointThread behind, int records) {
    for (int i = 0; i < records; i++) {
      table.fold();
      behind.maybeSwap(table.offset(), table.folded().sum(), 0);
    }
  }

  private void closeAndExpectAll(CheckpointThread behind) throws Exception {
    assertThat(behind.close(table.offset(), table.folded().sum(), 0)).isTrue();
    assertThat(loaded().differences(table)).isEmpty();
  }

  private RandomTable loaded() throws Exception {
    RandomTable found = new RandomTable(SEED, HASHES, RandomTable.newBlocks());
    Header header = Objects.requireNonNull(checkpoint.load(found.blocks(), found, Progress.NONE));
    assertThat(header.folded()).isEqualTo(found.folded());
    return found;
  }

  @Test
  void shouldGoOnWithTheSameJournal_whenNothingIsDue() throws Exception {
    CheckpointThread behind = begin(new JournalLimits(1_000_000, NEVER, NEVER));
    Journal first = table.blocks().journal();
    fold(behind, 300);
    assertThat(table.blocks().journal()).isSameAs(first);
    assertThat(behind.state().checkpoints()).isZero();
    assertThat(behind.due()).isPositive();
    closeAndExpectAll(behind);
    assertThat(written).containsExactly(table.folded());
  }

  @Test
  void shouldWriteBehind_whenEnoughChangedOrTheTimeIsOver() throws Exception {
    CheckpointThread behind = begin(SMALL);
    fold(behind, 500);
    await().atMost(30, SECONDS).until(() -> behind.state().checkpoints() > 0);
    CheckpointState state = behind.state();
    assertThat(state.failing() || state.stopped()).isFalse();
    assertThat(state.folded().offset()).isPositive();
    assertThat(state.rows()).isPositive();
    closeAndExpectAll(behind);

    CheckpointThread timed = begin(new JournalLimits(1_000_000, Duration.ZERO, NEVER));
    fold(timed, 1);
    await().atMost(30, SECONDS).until(() -> timed.state().checkpoints() == 1);
    // Nothing was folded since: nothing is written, however often it is asked.
    timed.maybeSwap(table.offset(), table.folded().sum(), 0);
    closeAndExpectAll(timed);
    assertThat(timed.state().checkpoints()).isEqualTo(1);
  }

  @Test
  void shouldMakeTheFoldWait_whenTheJournalIsFullAndTheDiskIsSlow() throws Exception {
    gate = new CountDownLatch(1);
    CheckpointThread behind = begin(SMALL);
    CompletableFuture<Void> folding = CompletableFuture.runAsync(() -> fold(behind, 400));
    await().atMost(30, SECONDS).until(() -> atTheGate.get() == 1 && isFull());
    int noted = table.blocks().journal().changes();
    assertThat(folding).isNotDone();
    assertThat(noted).isLessThan(3 * SMALL.changes());
    gate.countDown();
    folding.get(60, SECONDS);
    assertThat(behind.state().waited()).isPositive();
    assertThat(behind.state().stopped()).isFalse();
    closeAndExpectAll(behind);
  }

  private boolean isFull() {
    return table.blocks().journal().changes() >= SMALL.full();
  }

  @Test
  void shouldLoseNothing_whenTheDiskRecoversInTime() throws Exception {
    failuresLeft.set(2);
    CheckpointThread behind = begin(SMALL);
    fold(behind, 25);
    await().atMost(30, SECONDS).until(() -> behind.state().failures() > 0);
    assertThat(behind.state().failing() || behind.state().checkpoints() > 0).isTrue();
    await().atMost(30, SECONDS).until(() -> behind.state().checkpoints() > 0);
    assertThat(behind.state().failing()).isFalse();
    fold(behind, 400);
    assertThat(behind.state().stopped()).isFalse();
    closeAndExpectAll(behind);
  }

  @Test
  void shouldFoldOnAndSayWhatIsKept_whenTheDiskFailsForGood() throws Exception {
    failuresLeft.set(-1);
    CheckpointThread behind = begin(SMALL);
    fold(behind, 1_000);
    assertThat(behind.state().stopped()).isTrue();
    assertThat(behind.state().failing()).isTrue();
    assertThat(behind.state().folded()).isEqualTo(Folded.NOTHING);
    assertThat(table.blocks().journal().isKept()).isFalse();
    RandomTable reference = new RandomTable(SEED, HASHES, RandomTable.newBlocks());
    reference.foldTo(table.offset(), t -> {});
    assertThat(table.differences(reference)).isEmpty();
    // What was handed over before is still written once the disk is well, and nothing else.
    failuresLeft.set(0);
    await().atMost(40, SECONDS).until(() -> behind.state().checkpoints() == 1);
    assertThat(behind.state().stopped()).isTrue();
    long kept = behind.state().folded().offset();
    assertThat(kept).isBetween(0L, table.offset() - 1);
    assertThat(behind.close(table.offset(), table.folded().sum(), 0)).isFalse();
    assertThat(loaded().offset()).isEqualTo(kept);
  }

  @Test
  void shouldFoldOn_whenTheDiskDoesNotAnswer() {
    gate = new CountDownLatch(1);
    CheckpointThread behind = begin(new JournalLimits(50, NEVER, Duration.ofMillis(20)));
    fold(behind, 1_000);
    assertThat(behind.state().stopped()).isTrue();
    assertThat(behind.state().waited()).isGreaterThanOrEqualTo(Duration.ofMillis(20));
    assertThat(behind.close(table.offset(), table.folded().sum(), 0)).isFalse();
  }

  @Test
  void shouldEndSoonAndSaySo_whenItIsClosedWhileTheDiskFails() {
    failuresLeft.set(-1);
    CheckpointThread behind = begin(SMALL);
    fold(behind, 25);
    await().atMost(30, SECONDS).until(() -> behind.state().failing());
    assertThat(behind.close(table.offset(), table.folded().sum(), 0)).isFalse();
  }
}
