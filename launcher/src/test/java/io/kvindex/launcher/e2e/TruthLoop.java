// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A router that knows all replicas and asks them in turn, all the time. Where one refuses, or is
 * silent for a while, it asks the next one, once: a query has failed if that one refuses as well,
 * and none may. The engines are quiet, so any other number than theirs is wrong, also in an answer
 * that comes second or from a replica that was killed or stood still.
 */
final class TruthLoop implements AutoCloseable {

  private static final int MORE = 200;

  /** A hundred questions a second: without it the asking takes a core from those that answer. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(8);

  /** Silence after which another one is asked. No limit: the first answer counts, however late. */
  private static final long PATIENCE_MS = 250;

  /** Longer than the last questions may take. */
  private static final long LAST_SECONDS = 60;

  /**
   * A replica to which nothing is done refuses nothing: so it is promised, and so the drill counts
   * where the processes have a machine for themselves. Here they share it with other tests, and one
   * thing is none of a replica's doing: that another one, whose copy it asks, does not get to
   * answer within the 250 ms it waits. That it says so one query in a thousand may meet, and the
   * retry has to be answered all the same. Any other refusal counts.
   */
  private static final int LATE_ONE_IN = 1_000;

  private static final String LATE = "no answer in time";

  private final AtomicBoolean running = new AtomicBoolean(true);
  private final AtomicInteger queries = new AtomicInteger();
  private final Queue<String> late = new ConcurrentLinkedQueue<>();
  private final Queue<String> problems = new ConcurrentLinkedQueue<>();
  private final ExecutorService askers = Executors.newCachedThreadPool();
  private final List<AskedReplica> replicas;
  private final List<SimulatedEngine> engines;
  private final Thread thread;

  /**
   * @param servers all replicas, two at least
   */
  TruthLoop(List<Api> servers, List<SimulatedEngine> engines, long seed) {
    assertThat(servers).as("a retry goes to another replica").hasSizeGreaterThan(1);
    this.replicas = servers.stream().map(AskedReplica::new).toList();
    this.engines = engines;
    thread = new Thread(() -> run(new Random(seed)), "asking");
    thread.start();
  }

  private void run(Random random) {
    try {
      while (running.get()) {
        query(queries.get(), random.nextLong());
        queries.incrementAndGet();
        LockSupport.parkNanos(PAUSE_NS);
      }
    } catch (RuntimeException | Error e) {
      problems.add("nobody asks any more: " + e);
    }
  }

  private void query(int number, long question) {
    AskedReplica first = replicas.get(number % replicas.size());
    AskedReplica other = replicas.get((number + 1) % replicas.size());
    CompletableFuture<Boolean> answered = ask(first, number, question);
    CompletableFuture<Boolean> soon =
        answered.copy().completeOnTimeout(false, PATIENCE_MS, TimeUnit.MILLISECONDS);
    if (!soon.join() && !either(answered, ask(other, number, question))) {
      problems.add("query " + number + " failed, retry and all");
    }
  }

  /** Whether one of them is an answer, as soon as one is. */
  private static boolean either(CompletableFuture<Boolean> one, CompletableFuture<Boolean> other) {
    CompletableFuture<Boolean> any = new CompletableFuture<>();
    for (CompletableFuture<Boolean> each : List.of(one, other)) {
      each.thenAccept(answered -> completeIf(answered, any));
    }
    one.thenCombine(other, Boolean::logicalOr).thenAccept(any::complete);
    return any.join();
  }

  private static void completeIf(boolean answered, CompletableFuture<Boolean> any) {
    if (answered) {
      any.complete(true);
    }
  }

  /** Whether it answers, right or wrong. */
  private CompletableFuture<Boolean> ask(AskedReplica replica, int number, long question) {
    if (!replica.begin()) {
      return CompletableFuture.completedFuture(false);
    }
    return CompletableFuture.supplyAsync(() -> isAnswered(replica, number, question), askers)
        .whenComplete((answered, problem) -> replica.end());
  }

  private boolean isAnswered(AskedReplica replica, int number, long question) {
    String asked = "query " + number + " at " + Instant.now(); // wall clock, to be found in logs
    long sentNs = System.nanoTime();
    try {
      new Truth().checkPrompts(replica.api(), engines, question, 1);
      return true;
    } catch (Api.Refusal | UncheckedIOException e) {
      if (replica.hasSurvived(sentNs)) {
        boolean isLate = String.valueOf(e.getMessage()).contains(LATE);
        (isLate ? late : problems).add(asked + " was refused by a replica that runs: " + e);
      }
      return false;
    } catch (RuntimeException | AssertionError e) {
      problems.add(asked + " was answered wrong: " + e);
      return true;
    }
  }

  /** It is about to be killed or to stand still: it may refuse, and say nothing. */
  void disturb(Api server) {
    replica(server).disturb();
  }

  /** What is asked from now on it has no reason to refuse. */
  void settle(Api server) {
    replica(server).settle();
  }

  private AskedReplica replica(Api server) {
    return replicas.stream().filter(one -> one.api() == server).findFirst().orElseThrow();
  }

  /** Until some hundred more are answered. */
  void goOn() {
    int goal = queries.get() + MORE;
    await().atMost(Duration.ofSeconds(60)).until(() -> queries.get() >= goal);
  }

  /** Ends; fails with all that was found, until the last answer. */
  @Override
  public void close() throws InterruptedException {
    running.set(false);
    thread.join();
    askers.shutdown();
    boolean ended = askers.awaitTermination(LAST_SECONDS, TimeUnit.SECONDS);
    assertThat(problems).as("failed, wrong or refused of " + queries.get()).isEmpty();
    assertThat(late)
        .as("late of " + queries.get())
        .hasSizeLessThanOrEqualTo(Math.max(1, queries.get() / LATE_ONE_IN));
    assertThat(ended).as("all questions have ended").isTrue();
  }
}
