// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.log.OncePerMinute;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Journal;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
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
  private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(30);

  private final int partition;
  private final Blocks blocks;
  private final Writer writer;
  private final Journal.Pieces pieces;
  private final JournalLimits limits;
  private final long firstPauseNs;
  private final Thread thread;

  // ---- the fold's

  private Folded handedOver;
  private long dueNs;

  /** Whether the fold's changes are still noted. */
  private volatile boolean journalling = true;

  // ---- shared, under the lock

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable Journal full;
  private Folded upTo;

  /** Somebody waits for a checkpoint. */
  private volatile boolean wanted;

  private volatile boolean busy;
  private volatile boolean failing;
  private boolean ending;
  private Folded onDisk;
  private long onDiskNs = System.nanoTime();
  private long checkpoints;
  private long changes;
  private long rows;
  private long writingNs;
  private long waitedNs;
  private long failures;
  private final OncePerMinute warnings = new OncePerMinute();

  /**
   * @param blocks whose journal is swapped; they get the first one here
   * @param loaded what they are the fold of, and the disk has
   * @param pieces shared by the partitions of a process
   */
  public CheckpointThread(
      int partition,
      Blocks blocks,
      Folded loaded,
      Writer writer,
      Journal.Pieces pieces,
      JournalLimits limits) {
    this(partition, blocks, loaded, writer, pieces, limits, FIRST_PAUSE);
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
      Duration firstPause) {
    this.partition = partition;
    this.blocks = blocks;
    this.writer = writer;
    this.pieces = pieces;
    this.limits = limits;
    firstPauseNs = firstPause.toNanos();
    handedOver = loaded;
    upTo = loaded;
    onDisk = loaded;
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
    if (noted > 0 || offset != handedOver.offset()) {
      handOver(new Folded(offset, sum, lineageStart));
    } else {
      dueNs = System.nanoTime() + limits.interval().toNanos();
    }
  }

  private void handOver(Folded folded) {
    Journal next = new Journal(pieces);
    lock.lock();
    try {
      full = blocks.swap(next);
      upTo = folded;
      busy = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    handedOver = folded;
    wanted = false;
    dueNs = System.nanoTime() + limits.interval().toNanos();
  }

  /** Whether the last journal is written; waits for it, but not for a disk that fails. */
  private boolean awaitIdle() {
    long began = System.nanoTime();
    boolean interrupted = false;
    lock.lock();
    try {
      long left = limits.longestWait().toNanos();
      while (busy && !failing && left > 0) {
        try {
          left = changed.awaitNanos(left);
        } catch (InterruptedException e) {
          interrupted = true;
          left = limits.longestWait().toNanos() - (System.nanoTime() - began);
        }
      }
      waitedNs += System.nanoTime() - began;
      return !busy;
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
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
    if (all && (!blocks.journal().isEmpty() || offset != handedOver.offset())) {
      handOver(new Folded(offset, sum, lineageStart));
      all = awaitIdle();
    }
    end();
    return all;
  }

  /** Ends without a last checkpoint. Waits for one that is being written, as {@link #close}. */
  public void abandon() {
    end();
  }

  private void end() {
    journalling = false;
    lock.lock();
    try {
      ending = true;
      changed.signalAll();
    } finally {
      lock.unlock();
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
      for (Journal next = take(); next != null; next = take()) {
        write(next);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.error("BUG: the checkpoint of partition {} ends here", partition, e);
      failed();
    }
  }

  private @Nullable Journal take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (full == null && !ending) {
        changed.await();
      }
      return full;
    } finally {
      lock.unlock();
    }
  }

  private void write(Journal journal) throws InterruptedException {
    long pause = firstPauseNs;
    while (true) {
      long began = System.nanoTime();
      try {
        int count = writer.write(journal, upTo);
        written(journal, count, System.nanoTime() - began);
        return;
      } catch (RocksDBException e) {
        failed();
        warn(e);
        if (!pause(pause)) {
          return;
        }
        pause = Math.min(2 * pause, LONGEST_PAUSE_NS);
      }
    }
  }

  private void written(Journal journal, int count, long tookNs) {
    int noted = journal.size();
    journal.release();
    lock.lock();
    try {
      full = null;
      busy = false;
      failing = false;
      onDisk = upTo;
      onDiskNs = System.nanoTime();
      checkpoints++;
      changes += noted;
      rows += count;
      writingNs += tookNs;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void failed() {
    lock.lock();
    try {
      failing = true;
      failures++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void warn(RocksDBException e) {
    if (warnings.allows()) {
      LOG.warn(
          "the checkpoint of partition {} can not be written, and is tried again: {}",
          partition,
          e.getMessage());
    }
  }

  /** Until it is time for another try; false = it ends. */
  private boolean pause(long forNs) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = forNs;
      while (left > 0 && !ending) {
        left = changed.awaitNanos(left);
      }
      if (ending) {
        full = null;
      }
      return !ending;
    } finally {
      lock.unlock();
    }
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
    long left = longest.toNanos();
    lock.lockInterruptibly();
    try {
      while (onDisk.offset() < offset && left > 0 && !failing && journalling) {
        wanted = true;
        left = changed.awaitNanos(left);
      }
      return onDisk.offset() >= offset;
    } finally {
      lock.unlock();
    }
  }

  /** Any thread. */
  public CheckpointState state() {
    lock.lock();
    try {
      return new CheckpointState(
          onDisk,
          Duration.ofNanos(System.nanoTime() - onDiskNs),
          failing,
          !journalling && !ending,
          checkpoints,
          changes,
          rows,
          Duration.ofNanos(writingNs),
          Duration.ofNanos(waitedNs),
          failures);
    } finally {
      lock.unlock();
    }
  }
}
