// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.engine.SimulatedEngine;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Asks servers one after the other, all the time; the engines are quiet, so any other number than
 * theirs is wrong.
 */
final class TruthLoop implements AutoCloseable {
  private static final int MORE = 300;

  /**
   * One answer in so many may be a refusal for want of time if the same question is answered right
   * at once: replicas wait 250 ms for each other, and a machine may stand still for longer.
   */
  private static final int LATE_ONE_IN = 1_000;

  private final AtomicBoolean running = new AtomicBoolean(true);
  private final AtomicInteger answers = new AtomicInteger();
  private final AtomicInteger late = new AtomicInteger();
  private final List<Failure> failures = new ArrayList<>();
  private final Thread thread;
  private volatile long stoodStillUntilNanos = System.nanoTime();

  /**
   * @param number of the answer
   * @param asked wall clock, to be found in logs
   */
  private record Failure(int number, Instant asked, long askedNanos, Throwable cause) {

    boolean isTimeoutOf(long endNanos) {
      return cause.getCause() instanceof HttpTimeoutException && askedNanos - endNanos < 0;
    }

    @Override
    public String toString() {
      return "answer " + number + " at " + asked + ": " + cause;
    }
  }

  TruthLoop(List<Api> servers, List<SimulatedEngine> engines, long seed) {
    thread = new Thread(() -> run(servers, engines, new Random(seed)), "asking");
    thread.start();
  }

  private void run(List<Api> servers, List<SimulatedEngine> engines, Random random) {
    while (running.get()) {
      Instant now = Instant.now();
      long asked = System.nanoTime();
      Api server = servers.get(answers.get() % servers.size());
      long question = random.nextLong();
      Throwable problem = ask(server, engines, question);
      if (problem != null && String.valueOf(problem.getMessage()).contains("no answer in time")) {
        late.incrementAndGet();
        problem = ask(server, engines, question);
      }
      if (problem != null) {
        synchronized (failures) {
          failures.add(new Failure(answers.get(), now, asked, problem));
        }
      }
      answers.incrementAndGet();
    }
  }

  private static @Nullable Throwable ask(Api server, List<SimulatedEngine> engines, long question) {
    try {
      new Truth().checkPrompts(server, engines, question, 1);
      return null;
    } catch (RuntimeException | AssertionError e) {
      return e;
    }
  }

  /** A server stood still until now: what was asked before may have timed out, and no more. */
  void forgiveTimeouts() {
    stoodStillUntilNanos = System.nanoTime();
  }

  /** Until some hundred more are answered. */
  void goOn() {
    int goal = answers.get() + MORE;
    await().atMost(Duration.ofSeconds(60)).until(() -> answers.get() >= goal);
  }

  @Override
  public void close() throws InterruptedException {
    running.set(false);
    thread.join();
    System.out.println("asked " + answers.get() + " times, " + late.get() + " late");
    assertThat(late.get()).as("late of " + answers).isLessThan(2 + answers.get() / LATE_ONE_IN);
    synchronized (failures) {
      assertThat(failures.stream().filter(one -> !one.isTimeoutOf(stoodStillUntilNanos)))
          .as("failed or wrong among %d answers", answers.get())
          .isEmpty();
    }
  }
}
