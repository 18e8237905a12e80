// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A client that knows all replicas and asks them in turn. When one refuses, breaks off or is silent
 * for {@link #PATIENCE_MS} it asks another one, once; what comes first counts. Thread-safe.
 */
final class Router implements AutoCloseable {

  /** Silence after which another replica is asked. */
  static final long PATIENCE_MS = 250;

  private static final int OK = 200;
  private static final int SHOWN = 200;

  private final RouterHttp http = new RouterHttp();

  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "drill-retries");
            thread.setDaemon(true);
            return thread;
          });
  private final List<RouterReplica> replicas;
  private final Tallies tallies;
  private final Duration timeout;
  private final AtomicInteger turn = new AtomicInteger();
  private volatile boolean closed;

  /**
   * An answer.
   *
   * @param sentNs when this replica was asked, {@link System#nanoTime}
   */
  record Answer(RouterReplica by, RouterHttp.Reply reply, long sentNs, long receivedNs) {}

  /**
   * @param timeout a request that takes longer has failed
   */
  Router(List<RouterReplica> replicas, Tallies tallies, Duration timeout) {
    this.timeout = timeout;
    this.replicas = List.copyOf(replicas);
    this.tallies = tallies;
  }

  /** Asks; fails when the retry fails too. */
  CompletableFuture<Answer> ask(byte[] body, Tally tally) {
    int first = Math.floorMod(turn.getAndIncrement(), replicas.size());
    Asked asked = new Asked(body, tally, replicas.get((first + 1) % replicas.size()));
    timer.schedule(asked::retry, PATIENCE_MS, TimeUnit.MILLISECONDS);
    attempt(replicas.get(first), body, tally).whenComplete(asked::answered);
    return asked.result;
  }

  /** A query with its two tries. */
  private final class Asked {

    private final byte[] body;
    private final Tally tally;
    private final RouterReplica other;
    private final CompletableFuture<Answer> result = new CompletableFuture<>();
    private boolean retried;
    private int failures;

    Asked(byte[] body, Tally tally, RouterReplica other) {
      this.body = body;
      this.tally = tally;
      this.other = other;
    }

    /** Asks the other one, unless it was asked before or there is an answer. */
    void retry() {
      synchronized (this) {
        if (retried || result.isDone()) {
          return;
        }
        retried = true;
      }
      tally.retried.incrementAndGet();
      attempt(other, body, tally).whenComplete(this::answered);
    }

    private void answered(@Nullable Answer answer, @Nullable Throwable problem) {
      if (problem == null) {
        result.complete(answer);
        return;
      }
      boolean both;
      synchronized (this) {
        both = ++failures == 2;
      }
      if (both) {
        result.completeExceptionally(problem);
      } else {
        retry();
      }
    }
  }

  private CompletableFuture<Answer> attempt(RouterReplica replica, byte[] body, Tally tally) {
    long sentNs = System.nanoTime();
    return http.post(replica.uri().resolve("/query"), body, timeout)
        .thenCompose(
            reply ->
                reply.status() == OK
                    ? CompletableFuture.completedFuture(
                        new Answer(replica, reply, sentNs, System.nanoTime()))
                    : CompletableFuture.failedFuture(refusal(reply)))
        .whenComplete((answer, problem) -> judge(replica, sentNs, problem, tally));
  }

  private static IOException refusal(RouterHttp.Reply reply) {
    String text = new String(reply.body(), StandardCharsets.UTF_8);
    return new IOException(
        reply.status() + " " + text.substring(0, Math.min(SHOWN, text.length())));
  }

  private void judge(RouterReplica replica, long sentNs, @Nullable Throwable problem, Tally tally) {
    // What the router itself broke off, a second try that nobody needs any more, is no fault.
    if (closed || !replica.hasSurvived(sentNs)) {
      return;
    }
    long tookNs = System.nanoTime() - sentNs;
    long ms = TimeUnit.NANOSECONDS.toMillis(tookNs);
    if (problem != null) {
      tally.refused.incrementAndGet();
      tallies.found(
          replica.name() + ", to which nothing was done, failed after " + ms + " ms: " + problem);
      return;
    }
    tally.survivors.add(tookNs);
    if (ms > PATIENCE_MS) {
      tally.slow.incrementAndGet();
    }
  }

  @Override
  public void close() {
    closed = true;
    timer.shutdownNow();
    http.close();
  }
}
