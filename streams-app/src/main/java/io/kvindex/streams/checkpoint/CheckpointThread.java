// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.log.OncePerMinute;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Journal;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a partition's journals behind the fold, one at a time. Between two records the fold asks
 * whether a checkpoint is due, and goes on with another journal if so.
 *
 * <p>A journal that is full while the one before is being written makes the fold wait. One that is
 * full while the disk fails is given up, with all that come after it: the fold goes on, and what is
 * on the disk stays what it is. The journal that could not be written is tried again for ever, so
 * that a disk that recovers before that costs nothing.
 */
public final class CheckpointThread {

  /** Writes a journal, see {@link Checkpoint#write}. */
  @FunctionalInterface
  public interface Writer {
    /** Returns the number of rows. */
    int write(Journal journal, Folded upTo) throws RocksDBException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointThread.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final long LONGEST_PAUSE_MS = 30_000;

  private final int partition;
  private final Blocks blocks;
  private final Writer writer;
  private final Journal.Pieces pieces;
  private final JournalLimits limits;
  private final long firstPauseMs;
  private final Thread thread;

  // ---- the fold's

  private long dueNs;

  /** Whether the fold's changes are still noted. */
  private volatile boolean journalling = true;

  // ---- shared, under the lock

  private @Nullable Journal full;

  /** What that one, or the last one, is up to. */
  private Folded upTo;

  /** Somebody waits for a checkpoint. */
  private volatile boolean wanted;

  private volatile boolean busy;
  private volatile boolean failing;
  private boolean ending;
  private Folded onDisk;
  private long onDiskNs = System.nanoTime();

  private final CheckpointMeters meters;
  private final OncePerMinute warnings = new OncePerMinute();

  /**
   * @param blocks whose journal is swapped; they get the first one here
   * @param loaded what they are the fold of, and the disk has
   * @param pieces shared by the partitions of a process
   * @param metrics have one counter of each kind for all of them
   */
  public CheckpointThread(
      int partition,
      Blocks blocks,
      Folded loaded,
      Writer writer,
      Journal.Pieces pieces,
      JournalLimits limits,
      MeterRegistry metrics) {
    this(partition, blocks, loaded, writer, pieces, limits, FIRST_PAUSE, metrics);
  }

  /**
   * Visible for tests.
   *
   * @param firstPause before a checkpoint that failed is tried again; doubled each time
   */
  CheckpointThread(
      int partition,
      Blocks blocks,
      Folded loaded,
      Writer writer,
      Journal.Pieces pieces,
      JournalLimits limits,
      Duration firstPause,
      MeterRegistry metrics) {
    this.partition = partition;
    this.blocks = blocks;
    this.writer = writer;
    this.pieces = pieces;
    this.limits = limits;
    firstPauseMs = firstPause.toMillis();
    upTo = loaded;
    onDisk = loaded;
    meters = CheckpointMeters.register(metrics);
    blocks.swap(new Journal(pieces)).release();
    dueNs = System.nanoTime() + limits.interval().toNanos();
    thread = new Thread(this::run, "kvindex-checkpoint-" + partition);
    thread.setDaemon(true);
    thread.start();
  }

  // ------------------------------------------------------------------- the fold

  /**
   * Between two records: begins a checkpoint if one is due. Waits where the disk is that much
   * behind, {@link JournalLimits#longestWait} at most. For the thread that owns the blocks.
   *
   * @param offset of the record folded last
   * @param sum its sum
   * @param lineageStart see {@link Folded}
   */
  public void maybeSwap(long offset, long sum, long lineageStart) {
    if (!journalling) {
      return;
    }
    int noted = blocks.journal().changes();
    if (noted < limits.changes() && !wanted && System.nanoTime() - dueNs < 0) {
      return;
    }
    if (busy) {
      if (noted < limits.full()) {
        return;
      }
      if (!awaitIdle()) {
        stop(noted);
        return;
      }
    }
    if (noted > 0 || offset != upTo.offset()) {
      handOver(new Folded(offset, sum, lineageStart));
    } else {
      dueNs = System.nanoTime() + limits.interval().toNanos();
    }
  }

  private void handOver(Folded folded) {
    Journal next = new Journal(pieces);
    synchronized (this) {
      full = blocks.swap(next);
      upTo = folded;
      busy = true;
      notifyAll();
    }
    wanted = false;
    dueNs = System.nanoTime() + limits.interval().toNanos();
  }

  /** Whether the last journal is written; waits for it, but not for a disk that fails. */
  private boolean awaitIdle() {
    long began = System.nanoTime();
    boolean interrupted = false;
    Duration left = limits.longestWait();
    while (true) {
      try {
        waitFor(() -> !busy || failing, left);
        break;
      } catch (InterruptedException e) {
        interrupted = true;
        left = limits.longestWait().minusNanos(System.nanoTime() - began);
      }
    }
    meters.waitSeconds().increment((System.nanoTime() - began) / 1e9);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !busy;
  }

  /** Waits for what another thread does and tells; false = it has not come in time. */
  private synchronized boolean waitFor(BooleanSupplier done, Duration longest)
      throws InterruptedException {
    long began = System.nanoTime();
    while (!done.getAsBoolean()) {
      long left = longest.toNanos() - (System.nanoTime() - began);
      if (left <= 0) {
        return false;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return true;
  }

  private void stop(int noted) {
    journalling = false;
    blocks.swap(Journal.none()).release();
    LOG.error(
        "nothing of partition {} is kept for the next start any more: {} changes wait for a disk"
            + " that fails or does not answer. It goes on from offset {} if the log still has what"
            + " follows, else it has to borrow",
        partition,
        noted,
        state().folded().offset());
  }

  /**
   * Writes what is left and ends: the last checkpoint of an orderly stop. For the thread that owns
   * the blocks, which nobody changes any more.
   *
   * @return whether all is on the disk; false after failures, or after waiting for {@link
   *     JournalLimits#longestWait}
   */
  public boolean close(long offset, long sum, long lineageStart) {
    boolean all = journalling && awaitIdle();
    if (all && (!blocks.journal().isEmpty() || offset != upTo.offset())) {
      handOver(new Folded(offset, sum, lineageStart));
      all = awaitIdle();
    }
    abandon();
    return all;
  }

  /** Ends without a last checkpoint. Waits for one that is being written, as {@link #close}. */
  public void abandon() {
    journalling = false;
    synchronized (this) {
      ending = true;
      notifyAll();
    }
    try {
      thread.join(Math.max(1, limits.longestWait().toMillis()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // ------------------------------------------------------------------- behind it

  private void run() {
    try {
      Journal next = take();
      while (next != null && write(next)) {
        next = take();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.error("BUG: the checkpoint of partition {} ends here", partition, e);
      failed();
    }
  }

  private synchronized @Nullable Journal take() throws InterruptedException {
    while (full == null && !ending) {
      wait();
    }
    return full;
  }

  /** Tries until it is written; false = all ends before. */
  private boolean write(Journal journal) throws InterruptedException {
    long pauseMs = firstPauseMs;
    while (true) {
      try {
        written(journal, writer.write(journal, upTo));
        return true;
      } catch (RocksDBException e) {
        failed();
        if (warnings.allows()) {
          LOG.warn(
              "the checkpoint of partition {} can not be written, and is tried again: {}",
              partition,
              e.getMessage());
        }
        if (waitFor(() -> ending, Duration.ofMillis(pauseMs))) {
          return false;
        }
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
  }

  private synchronized void written(Journal journal, int count) {
    journal.release();
    full = null;
    busy = false;
    failing = false;
    onDisk = upTo;
    onDiskNs = System.nanoTime();
    meters.written().increment();
    meters.rows().increment(count);
    notifyAll();
  }

  private synchronized void failed() {
    failing = true;
    meters.failures().increment();
    notifyAll();
  }

  /** The next {@link #maybeSwap} begins a checkpoint. Any thread. */
  public void want() {
    wanted = true;
  }

  /**
   * Any thread: has a checkpoint written that has at least what is folded by now.
   *
   * @param offset of the record folded last
   * @return whether it is there within the time
   */
  public boolean await(long offset, Duration longest) throws InterruptedException {
    waitFor(
        () -> {
          if (onDisk.offset() < offset) {
            wanted = true; // also behind one that was under way, and has less
          }
          return onDisk.offset() >= offset || failing || !journalling;
        },
        longest);
    return state().folded().offset() >= offset;
  }

  /** Any thread. */
  public synchronized CheckpointState state() {
    return new CheckpointState(
        onDisk, Duration.ofNanos(System.nanoTime() - onDiskNs), failing, !journalling && !ending);
  }
}
