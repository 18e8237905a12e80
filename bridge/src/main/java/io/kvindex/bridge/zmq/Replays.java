// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;

/**
 * Reads replays on a small pool, because an engine drops batches when its answer is read slowly.
 * One replay a publisher at a time, so what waits is bounded by the publishers. Thread-safe.
 */
public final class Replays implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Replays.class);

  private final ZMQ.Context context;
  private final ReplayPolicy policy;
  private final ScheduledThreadPoolExecutor pool;

  /** Apart from the pool, which silent endpoints may keep busy for long. */
  private final ScheduledThreadPoolExecutor timer;

  private volatile boolean closed;

  /**
   * @param context whose sockets to use; must outlive this object
   */
  public Replays(ZMQ.Context context, ReplayPolicy policy) {
    this.context = context;
    this.policy = policy;
    AtomicInteger number = new AtomicInteger();
    pool =
        new ScheduledThreadPoolExecutor(
            policy.threads(),
            task -> {
              Thread thread = new Thread(task, "zmq-replay-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    pool.setRemoveOnCancelPolicy(true);
    timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "zmq-timer");
              thread.setDaemon(true);
              return thread;
            });
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /**
   * Starts to read what a publisher still has.
   *
   * @param have last batch we have for sure, asked for once more so that it can be compared; null =
   *     none, ask for everything
   * @param delay pause before the first attempt
   */
  public ReplayFeed start(
      String endpoint, @Nullable Long have, Duration delay, ReplayFeed.Listener listener) {
    ReplayFeed feed = new ReplayFeed(listener);
    schedule(new ReplayJob(endpoint, have, feed, policy), delay);
    return feed;
  }

  /** Runs something small later, on a thread of its own. */
  public void later(Runnable task, Duration delay) {
    schedule(timer, task, delay);
  }

  private static void schedule(
      ScheduledThreadPoolExecutor executor, Runnable task, Duration delay) {
    try {
      executor.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("closing; a delayed step is dropped");
    }
  }

  private void schedule(ReplayJob job, Duration delay) {
    schedule(pool, () -> run(job), delay);
  }

  private void run(ReplayJob job) {
    Duration again;
    try {
      again = job.attempt(context, () -> closed);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    if (again != null) {
      schedule(job, again);
    }
  }

  /** Stops all replays within about 100 ms and closes their sockets. */
  @Override
  public void close() throws InterruptedException {
    closed = true;
    timer.shutdownNow();
    pool.shutdown();
    if (!pool.awaitTermination(5, TimeUnit.SECONDS)) {
      LOG.warn("a replay did not stop in 5 s");
    }
  }
}
