// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A router that asks one server all the time. The first thing that goes wrong ends it, and fails
 * the test: when the answers are counted next, at the latest when it is closed.
 */
final class QueryLoop implements AutoCloseable {

  private static final Duration PAUSE = Duration.ofMillis(2);

  /** Longer than the last question may take. */
  private static final long LAST_SECONDS = 60;

  private final Api api;
  private final Random random;
  private final AtomicInteger answers = new AtomicInteger();
  private final ScheduledExecutorService asking = Executors.newSingleThreadScheduledExecutor();
  private volatile @Nullable Throwable failure;

  /** As fast as it is answered, or nearly so. */
  QueryLoop(Api api, long seed) {
    this(api, seed, PAUSE);
  }

  /**
   * The same at another rate.
   *
   * @param pause behind each answer
   */
  QueryLoop(Api api, long seed, Duration pause) {
    this.api = api;
    random = new Random(seed);
    asking.scheduleWithFixedDelay(this::ask, 0, pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void ask() {
    try {
      int[] prompt = LoadedEngines.prompt(random);
      if (api.query("default", prompt, null, 16).isEmpty()) {
        throw new AssertionError("an answer names no engine");
      }
      answers.incrementAndGet();
    } catch (RuntimeException | Error e) {
      failure = e;
      throw e; // asks no more
    }
  }

  /** Answers so far; none of the questions failed. */
  int answers() {
    requireNoFailure();
    return answers.get();
  }

  private void requireNoFailure() {
    assertThat(failure).as("a query failed after %d answers", answers.get()).isNull();
  }

  /** Asks no more; fails if a question has failed, the last one as well. */
  @Override
  public void close() throws InterruptedException {
    asking.shutdown();
    boolean ended = asking.awaitTermination(LAST_SECONDS, TimeUnit.SECONDS);
    requireNoFailure();
    assertThat(ended).as("the last question has ended").isTrue();
  }
}
