// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.model.log.OncePerMinute;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.errors.LockException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where one partition's table is, what state it is in and which task has it. No public method
 * waits. Thread-safe.
 *
 * <pre>
 * ABSENT --load--> LOADING --> READY --refuse--> FAILED --load, once no task has it--> LOADING
 *                  LOADING --> FAILED, if there is nothing to be had
 *                              READY --let go, if no task has it--> LOADING --> ABSENT
 * </pre>
 */
public final class TableSlot {

  private static final Logger LOG = LoggerFactory.getLogger(TableSlot.class);
  static final String REFUSED = "kvindex.tables.refused";
  static final String LOADS_FAILED = "kvindex.tables.load.failures";

  private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** After so long without a failure the next one is met without a pause. */
  private static final long CALM_NS = TimeUnit.MINUTES.toNanos(5);

  private final int partition;
  private final TableLoader loader;
  private final Supplier<Uuid> topicId;
  private final Executor loading;
  private final MeterRegistry metrics;
  private final long longestPauseNs;
  private final OncePerMinute ofLoads = new OncePerMinute();
  private final OncePerMinute ofLostEnds = new OncePerMinute();
  private final OncePerMinute ofFolds = new OncePerMinute();

  private TableState state = TableState.ABSENT;

  /** There while READY, and while FAILED until a loading thread lets go of it. */
  private @Nullable FoldedTable table;

  /** The same while READY, for those who must not wait. */
  private volatile @Nullable FoldedTable inUse;

  /** The topic the table is of. */
  private @Nullable Uuid loadedFor;

  /** The task that has the table, null = none has. */
  private @Nullable Object owner;

  /** Since when none has it. */
  private long idleSinceNs;

  /** Why the last table was refused, null = it was not. */
  private @Nullable Refusal refusal;

  private String failure = "";
  private volatile CompletableFuture<Void> loaded = CompletableFuture.completedFuture(null);
  private boolean closed;
  private long pauseNs;
  private long lastFailureNs = System.nanoTime() - CALM_NS;
  private long notBeforeNs = System.nanoTime();

  /**
   * @param topicId asks Kafka for the topic's id; may wait, and throws if there is no answer
   * @param loading runs what loads
   * @param longestPause between two loads after failures
   */
  TableSlot(
      int partition,
      TableLoader loader,
      Supplier<Uuid> topicId,
      Executor loading,
      MeterRegistry metrics,
      Duration longestPause) {
    this.partition = partition;
    this.loader = loader;
    this.topicId = topicId;
    this.loading = loading;
    this.metrics = metrics;
    this.longestPauseNs = longestPause.toNanos();
  }

  /** How it stands with the table. */
  public synchronized TableState state() {
    return state;
  }

  /** Why it is {@link TableState#FAILED}, for people; "" where it is not. */
  public synchronized String failure() {
    return failure;
  }

  /** The table that is {@link TableState#READY}, null = it is not. */
  public @Nullable FoldedTable inUse() {
    return inUse;
  }

  /**
   * The read view of a table that is {@link TableState#READY}, else null. As old as its last task
   * where {@link #isFollowed} says no.
   */
  public @Nullable PartitionView view() {
    FoldedTable table = inUse;
    return table == null ? null : table.view();
  }

  /** Whether a task has the table, which so follows the log. */
  public synchronized boolean isFollowed() {
    return owner != null;
  }

  /** The topic the table is of, null = it is not {@link TableState#READY}. */
  public synchronized @Nullable Uuid topicId() {
    return state == TableState.READY ? loadedFor : null;
  }

  /**
   * Has the table loaded if it is not there.
   *
   * @return completed as soon as nothing is being loaded, whatever came of it
   */
  synchronized CompletableFuture<Void> load() {
    loadIfMissing();
    return loaded;
  }

  private synchronized void loadIfMissing() {
    boolean again =
        state == TableState.FAILED && owner == null && System.nanoTime() - notBeforeNs >= 0;
    if (!closed && (state == TableState.ABSENT || again)) {
      state = TableState.LOADING;
      loaded = new CompletableFuture<>();
      loading.execute(this::loadNow);
    }
  }

  private void loadNow() {
    try {
      // Before the next one is there: both at a time may be more than fits into memory.
      FoldedTable former = takeFormer();
      if (former != null) {
        former.abandon();
      }
      Uuid of = topicId.get();
      FoldedTable fresh = loader.load(partition, of, lastRefusal());
      if (!put(of, fresh)) {
        fresh.close(); // the process ends
      }
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      failed(e);
    } catch (Error e) {
      failed(e);
      throw e;
    } finally {
      loaded.complete(null); // outside the lock, as others go on in this thread
    }
  }

  /**
   * Puts the table away, with a last checkpoint: another process of the copy keeps it. Nothing
   * happens if it is not there, or a task has it, or had it until a moment ago.
   *
   * @param idle how long it must have been without a task
   */
  public synchronized void letGo(Duration idle) {
    if (!closed
        && state == TableState.READY
        && owner == null
        && System.nanoTime() - idleSinceNs >= idle.toNanos()) {
      inUse = null;
      state = TableState.LOADING;
      loaded = new CompletableFuture<>();
      loading.execute(this::putAway);
    }
  }

  private void putAway() {
    try {
      FoldedTable former = takeFormer();
      if (former != null) {
        former.close();
      }
    } finally {
      synchronized (this) {
        state = TableState.ABSENT;
      }
      loaded.complete(null);
    }
  }

  private synchronized @Nullable FoldedTable takeFormer() {
    FoldedTable former = table;
    table = null;
    return former;
  }

  private synchronized @Nullable Refusal lastRefusal() {
    return refusal;
  }

  private synchronized boolean put(Uuid of, FoldedTable fresh) {
    if (!closed) {
      table = fresh;
      inUse = fresh;
      idleSinceNs = System.nanoTime();
      loadedFor = of;
      refusal = null;
      failure = "";
      state = TableState.READY;
    }
    return !closed;
  }

  private synchronized void failed(Throwable why) {
    state = TableState.FAILED;
    failure = String.valueOf(why);
    pause();
    if (closed) {
      return; // it was interrupted
    }
    metrics.counter(LOADS_FAILED).increment();
    if (ofLoads.allows()) {
      LOG.warn("the table of partition {} can not be loaded; tried again", partition, why);
    }
  }

  /** Each failure in a row doubles the pause before the next try. */
  private void pause() {
    long now = System.nanoTime();
    pauseNs =
        now - lastFailureNs >= CALM_NS
            ? 0
            : Math.min(longestPauseNs, Math.max(FIRST_PAUSE_NS, 2 * pauseNs));
    lastFailureNs = now;
    notBeforeNs = now + pauseNs;
  }

  /**
   * Gives the table to a task, which writes it until {@link #release}. Kafka Streams may make a
   * task before the one before it is closed: of a thread that stood still, and was declared dead.
   *
   * @throws LockException if it is not there, whereupon it is loaded, or if another task has it
   */
  synchronized FoldedTable take(Object task) {
    loadIfMissing();
    FoldedTable there = table;
    if (closed || state != TableState.READY || there == null) {
      throw new LockException("the table of partition " + partition + " is " + state);
    }
    if (owner != null) {
      throw new LockException("another task has the table of partition " + partition);
    }
    owner = task;
    return there;
  }

  /** The task writes no more; nothing happens if the table is another's. */
  synchronized void release(Object task) {
    if (owner == task) {
      owner = null;
      idleSinceNs = System.nanoTime();
      if (state == TableState.FAILED) {
        loadIfMissing();
      }
    }
  }

  /**
   * A table must not be used any more: from now on nobody reads it. It is let go of and loaded anew
   * once the task that has it has released it; that task has to be closed by whoever finds this
   * out, see {@link FoldProcessor}. Nothing happens if it is not the table in use.
   *
   * @param exception what went wrong, for the log, null = no exception tells
   */
  synchronized void refuse(FoldedTable which, Refusal why, @Nullable Throwable exception) {
    if (inUse != which) {
      return; // somebody was faster
    }
    inUse = null;
    state = TableState.FAILED;
    refusal = why;
    failure = why.detail();
    pause();
    metrics.counter(REFUSED, "cause", why.cause().label()).increment();
    OncePerMinute warning = why.cause() == Refusal.Cause.LOG_LOST_END ? ofLostEnds : ofFolds;
    if (warning.allows()) {
      LOG.warn(
          "the table of partition {} is thrown away, {}: {}",
          partition,
          why.cause().label(),
          why.detail(),
          exception);
    }
  }

  /** Nothing is taken or loaded from now on. */
  synchronized void shut() {
    closed = true;
  }

  /**
   * Puts the table away, after {@link #shut} and the end of the loading threads. Who reads goes on
   * with what was in memory last, for as long as the process answers.
   */
  void end() {
    FoldedTable last;
    boolean sound;
    synchronized (this) {
      if (owner != null) {
        LOG.warn(
            "a task still writes the table of partition {}: the next start goes on from the last"
                + " checkpoint",
            partition);
        return;
      }
      last = table;
      sound = state == TableState.READY;
      table = null;
    }
    loaded.complete(null);
    if (last != null && sound) {
      last.close();
    } else if (last != null) {
      last.abandon();
    }
  }
}
