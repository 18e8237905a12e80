// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.model.registration.Endpoint;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.ObjLongConsumer;
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
    readers = Executors.newFixedThreadPool(policy.threads() - 1, Resolver.daemons("zmq-replay"));
    doubtedReader = Executors.newSingleThreadExecutor(Resolver.daemons("zmq-replay-doubted"));
    timer = new ScheduledThreadPoolExecutor(1, Resolver.daemons("zmq-replay-timer"));
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    questions = new Questions(context, this);
  }

  /**
   * Starts to read what a publisher still has.
   *
   * @param have last batch we have for sure, asked for once more so that it can be compared; null =
   *     none, ask for everything
   * @param doubted whether the endpoint left the last question unanswered: then it is asked only
   *     once
   * @param delay pause before the first attempt
   * @param changed told, by any thread, that there is something to take, or that it ended
   * @param discarded told, by any thread, of messages that nobody will take
   */
  public ReplayFeed start(
      String endpoint,
      @Nullable Long have,
      boolean doubted,
      Duration delay,
      Runnable changed,
      ObjLongConsumer<FrameOutcome> discarded) {
    ReplayFeed feed = new ReplayFeed(changed, discarded);
    ask(new ReplayJob(endpoint, have, doubted, feed, policy), delay);
    return feed;
  }

  private void ask(ReplayJob job, Duration delay) {
    if (delay.isZero()) {
      ask(job);
      return;
    }
    try {
      timer.schedule(() -> ask(job), delay.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("closing; a replay is not asked for any more");
    }
  }

  /** Where it leads is found out first: who asks must never wait for a name. */
  private void ask(ReplayJob job) {
    Endpoint endpoint;
    try {
      endpoint = Endpoint.parseReplay(job.endpoint());
    } catch (IllegalArgumentException e) { // registered before there was a check
      unanswered(job, e.getMessage());
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
      unanswered(job, result.problem());
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

  /** The answer to a question has begun; the attempt is this object's from now on. */
  void answered(ReplayJob job, ReplayAttempt attempt) {
    (job.isDoubted() ? doubtedReader : readers).execute(() -> read(job, attempt));
  }

  /**
   * A question was not answered.
   *
   * @param problem why it could not be asked, null = it was
   */
  void unanswered(ReplayJob job, @Nullable String problem) {
    goOn(job, job.unanswered(problem));
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
