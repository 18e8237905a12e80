// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordDecoder;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.topic.Topics;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.CheckpointRefusedException;
import io.kvindex.streams.checkpoint.CheckpointState;
import io.kvindex.streams.checkpoint.CheckpointThread;
import io.kvindex.streams.checkpoint.Folded;
import io.kvindex.streams.checkpoint.Header;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.checkpoint.Progress;
import io.kvindex.streams.fold.Counts;
import io.kvindex.streams.fold.Fold;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.fold.Outcome;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.runtime.FoldedTable;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.CheckpointOffer;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A partition of the log, folded: the table in memory, the rules that change it, and the checkpoint
 * behind it.
 */
final class FoldedPartition implements FoldedTable {

  private static final Logger LOG = LoggerFactory.getLogger(FoldedPartition.class);
  private static final Duration READ_WITHIN = Duration.ofSeconds(30);

  /** What all partitions of a process share. */
  record Shared(
      Epochs epochs,
      Journal.Pieces pieces,
      Counts counts,
      Limits limits,
      JournalLimits journalLimits,
      MeterRegistry metrics) {}

  private final int partition;
  private final Counts counts;
  private final PartitionTable table;
  private final Fold fold;
  private final Checkpoint checkpoint;
  private final CheckpointThread behind;
  private volatile long offset;
  private final long first;
  private long sum;
  private long lineageStart;
  private Set<Long> leftOut = Set.of();
  private volatile @Nullable String lacks;
  private final EventRecordDecoder decoder = new EventRecordDecoder();
  private final OncePerMinute warnings = new OncePerMinute();

  /**
   * Loads what a checkpoint has; from then on the checkpoint is this table's.
   *
   * @param first offset to begin at where the checkpoint has nothing, -1 = the log's beginning
   * @throws CheckpointRefusedException if it can not be used; nothing is left open
   * @throws IOException if the disk can not be read
   * @throws InterruptedException if the thread was interrupted
   */
  FoldedPartition(
      int partition, Shared shared, Checkpoint checkpoint, long first, Progress progress)
      throws CheckpointRefusedException, IOException, InterruptedException {
    this.partition = partition;
    this.checkpoint = checkpoint;
    this.first = first;
    counts = shared.counts();
    table = new PartitionTable(partition, shared.epochs(), new Journal(shared.pieces()));
    @Nullable Header header = checkpoint.load(table.blocks(), table::load, progress);
    Folded folded = header == null ? Folded.NOTHING : header.folded();
    offset = folded.offset();
    sum = folded.sum();
    foldedSince(folded.lineageStart());
    behind =
        new CheckpointThread(
            partition,
            table.blocks(),
            folded,
            checkpoint::write,
            shared.pieces(),
            shared.journalLimits(),
            shared.metrics());
    fold = new Fold(table, counts, shared.limits());
    if (folded.offset() >= 0) {
      table.streams().taken(folded.offset());
    } else if (first > 0) {
      // What is before is not looked for, and not waited for.
      foldedSince(first);
      table.streams().taken(first - 1);
    }
    table.readsFrom(this::read);
  }

  @Override
  public long foldedOffset() {
    return offset;
  }

  @Override
  public long firstOffset() {
    return first;
  }

  @Override
  public long foldedSum() {
    return sum;
  }

  @Override
  public void fold(
      long next, long timestampMs, byte @Nullable [] key, byte @Nullable [] value, long nextSum) {
    if (offset < 0) {
      foldedSince(next);
      fold.startsAt(next);
    }
    EventRecord record = decode(next, key, value);
    if (record == null) {
      fold.passOver(next);
    } else if (!leftOut.isEmpty() && leftOut.contains(next) && !record.isOpening()) {
      leaveOut(record, next, timestampMs);
    } else {
      fold.take(record, next, timestampMs);
    }
    sum = nextSum;
    offset = next;
    behind.maybeSwap(next, nextSum, lineageStart);
  }

  /**
   * Has events of these records not applied; before the first record is folded.
   *
   * @param offsets see {@link FailedFolds}
   */
  void leaveOut(Set<Long> offsets) {
    leftOut = offsets;
  }

  /** What it said is lost, and nothing else of its stream. */
  private void leaveOut(EventRecord record, long at, long timestampMs) {
    fold.take(record.asGap(), at, timestampMs);
    counts.add(Outcome.LEFT_OUT, record.events().size());
    String what =
        "offset %d of partition %d of %s, of publisher %s, can not be folded and is left out: a bug"
            .formatted(at, partition, Topics.EVENTS, record.stream().publisher().key());
    lacks = what;
    LOG.error("{}. The publisher is degraded until its life ends", what);
  }

  private void foldedSince(long offset) {
    lineageStart = offset;
    table.foldedSince(offset);
  }

  private @Nullable EventRecord decode(long at, byte @Nullable [] key, byte @Nullable [] value) {
    try {
      if (value == null) {
        throw new MalformedRecordException("it has no value");
      }
      return decoder.decode(key, value);
    } catch (MalformedRecordException e) {
      counts.taken(1);
      counts.record(Outcome.UNDECODABLE, 1);
      if (warnings.allows()) {
        LOG.warn("undecodable record partition={} offset={}: {}", partition, at, e.getMessage());
      }
      return null;
    }
  }

  @Override
  public void missed(long from, long to) {
    if (from > 0) {
      foldedSince(to + 1);
      fold.missedRecords();
    }
  }

  @Override
  public void idle() {
    behind.maybeSwap(offset, sum, lineageStart);
  }

  @Override
  public void released() {
    behind.want();
    idle();
  }

  private <T> @Nullable T read(Checkpoint.Reading<T> reading) throws DumpFailedException {
    try {
      if (!behind.await(offset, READ_WITHIN)) {
        throw new DumpFailedException(
            "no checkpoint was written within "
                + READ_WITHIN.toSeconds()
                + " s: the disk fails, or nobody follows the log");
      }
      return checkpoint.read(reading);
    } catch (RocksDBException | CheckpointRefusedException | IllegalStateException e) {
      throw new DumpFailedException("the partition can not be read", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DumpFailedException("interrupted while a checkpoint was written", e);
    }
  }

  /**
   * What of it is on the disk, for others. Any thread.
   *
   * @param first how long to wait for a first checkpoint
   */
  CheckpointOffer offer(boolean busy, Duration first) {
    if (behind.state().folded().offset() < 0) {
      awaitCheckpoint(first);
    }
    return checkpoint.offer(behind.state().folded(), busy);
  }

  /**
   * Makes a copy of what is on the disk, see {@link Checkpoint#lend}. Any thread.
   *
   * @param fresh how long to wait for a checkpoint with what is folded by now
   * @return null = nothing was written yet
   * @throws DumpFailedException if there can be no copy
   */
  @Nullable Header lend(Path target, Duration fresh) throws DumpFailedException {
    awaitCheckpoint(fresh);
    try {
      return checkpoint.lend(target);
    } catch (RocksDBException | CheckpointRefusedException | IllegalStateException e) {
      throw new DumpFailedException("the checkpoint can not be copied: " + e.getMessage(), e);
    }
  }

  /** Whoever does not get it goes on with the one before. */
  private void awaitCheckpoint(Duration longest) {
    try {
      behind.await(offset, longest);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public PartitionView view() {
    return table;
  }

  /** Names whose meaning is known. For the thread that writes. */
  long names() {
    return table.blocks().names();
  }

  /** Any thread: how the checkpoint stands. Visible for tests. */
  CheckpointState checkpointState() {
    return behind.state();
  }

  /** Since the last checkpoint, 0 where nothing was folded since. Any thread. */
  double checkpointAgeSeconds() {
    CheckpointState state = behind.state();
    return state.folded().offset() >= offset ? 0 : state.age().toMillis() / 1e3;
  }

  /**
   * What people should look at: a record that had to be left out since it was loaded, or a disk
   * that fails. null = nothing. Any thread.
   */
  @Nullable String warning() {
    CheckpointState state = behind.state();
    if (lacks != null || !state.failing() && !state.stopped()) {
      return lacks;
    }
    return String.format(
        Locale.ROOT,
        "the checkpoint of partition %d is %.0f s old, as its disk fails: %s",
        partition,
        checkpointAgeSeconds(),
        state.stopped()
            ? "none is written any more, and the next start may have to borrow one"
            : "writing is tried again");
  }

  @Override
  public void close() {
    table.close();
    if (!behind.close(offset, sum, lineageStart)) {
      LOG.warn(
          "the last checkpoint of partition {} is not whole: the next start reads on from offset {}",
          partition,
          behind.state().folded().offset());
    }
    checkpoint.close();
  }

  @Override
  public void abandon() {
    table.close();
    behind.abandon();
    checkpoint.close();
  }
}
