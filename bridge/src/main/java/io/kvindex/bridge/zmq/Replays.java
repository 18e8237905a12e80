// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.registration.Endpoint;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;

/**
 * Reads replays on a small pool, because an engine drops batches when its answer is read slowly.
 * Nobody waits there for an answer to begin, and endpoints that fell silent before have a thread of
 * their own, so that one that answers never waits for one that does not. One replay a publisher at
 * a time, so what waits is bounded by the publishers. Thread-safe.
 */
public final class Replays implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Replays.class);

  private final ReplayPolicy policy;
  private final Resolver resolver;
  private final ExecutorService readers;
  private final ExecutorService doubtedReader;
  private final ScheduledThreadPoolExecutor timer;
  private final Questions questions;
  private volatile boolean closed;

  /**
   * @param context whose sockets to use; must outlive this object
   * @param resolver looks up the names of endpoints; must outlive this object
   */
  public Replays(ZMQ.Context context, ReplayPolicy policy, Resolver resolver) {
    this.policy = policy;
    this.resolver = resolver;
    readers = Executors.newFixedThreadPool(policy.threads() - 1, daemons("zmq-replay"));
    doubtedReader = Executors.newSingleThreadExecutor(daemons("zmq-replay-doubted"));
    timer = new ScheduledThreadPoolExecutor(1, daemons("zmq-timer"));
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    questions = new Questions(context, new Outcomes());
  }

  private static ThreadFactory daemons(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Starts to read what a publisher still has.
   *
   * @param have last batch we have for sure, asked for once more so that it can be compared; null =
   *     none, ask for everything
   * @param doubted whether the endpoint left the last question unanswered: then it is asked only
   *     once
   * @param delay pause before the first attempt
   */
  public ReplayFeed start(
      String endpoint,
      @Nullable Long have,
      boolean doubted,
      Duration delay,
      ReplayFeed.Listener listener) {
    ReplayFeed feed = new ReplayFeed(listener);
    ask(new ReplayJob(endpoint, have, doubted, feed, policy), delay);
    return feed;
  }

  /** Runs something small later, on a thread of its own. */
  public void later(Runnable task, Duration delay) {
    try {
      timer.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("closing; a delayed step is dropped");
    }
  }

  private void ask(ReplayJob job, Duration delay) {
    if (delay.isZero()) {
      ask(job);
    } else {
      later(() -> ask(job), delay);
    }
  }

  /** Where it leads is found out first: who asks must never wait for a name. */
  private void ask(ReplayJob job) {
    Endpoint endpoint;
    try {
      endpoint = Endpoint.parseReplay(job.endpoint());
    } catch (IllegalArgumentException e) { // registered before there was a check
      goOn(job, job.unanswered(e.getMessage()));
      return;
    }
    if (endpoint.isName()) {
      resolver.resolve(endpoint.host(), result -> resolved(job, endpoint, result));
    } else {
      ask(job, endpoint, endpoint.addresses());
    }
  }

  private void resolved(ReplayJob job, Endpoint endpoint, Resolver.Result result) {
    if (result.problem() == null) {
      ask(job, endpoint, result.addresses());
    } else if (!job.isCancelled()) {
      goOn(job, job.unanswered(result.problem()));
    }
  }

  private void ask(ReplayJob job, Endpoint endpoint, List<InetAddress> addresses) {
    job.at(addresses.stream().map(one -> Route.numeric(one, endpoint.port())).toList());
    questions.ask(job);
  }

  private void goOn(ReplayJob job, @Nullable Duration pause) {
    if (pause != null) {
      ask(job, pause);
    }
  }

  private void read(ReplayJob job, ReplayAttempt attempt) {
    try (attempt) {
      goOn(job, job.read(attempt, () -> closed));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Outcomes implements Questions.Listener {

    @Override
    public void answered(ReplayJob job, ReplayAttempt attempt) {
      (job.isDoubted() ? doubtedReader : readers).execute(() -> read(job, attempt));
    }

    @Override
    public void unanswered(ReplayJob job, @Nullable String problem) {
      goOn(job, job.unanswered(problem));
    }
  }

  /** Stops all replays within about 100 ms and closes their sockets. */
  @Override
  public void close() throws InterruptedException {
    closed = true;
    timer.shutdownNow();
    questions.close();
    readers.shutdown();
    doubtedReader.shutdown();
    // What is left in their queues closes its socket and ends at once.
    if (!readers.awaitTermination(5, TimeUnit.SECONDS)
        || !doubtedReader.awaitTermination(5, TimeUnit.SECONDS)) {
      LOG.warn("a replay did not stop in 5 s");
    }
  }
}
