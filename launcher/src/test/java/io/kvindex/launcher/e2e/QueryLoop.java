// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A router that asks one server all the time, and keeps the first thing that went wrong. */
final class QueryLoop implements AutoCloseable {

  private static final long PAUSE_NS = 2_000_000;

  private final Api api;
  private final Random random;
  private final AtomicInteger answers = new AtomicInteger();
  private final Thread thread = new Thread(this::run, "queries");
  private volatile boolean running = true;
  private volatile @Nullable Throwable failure;

  QueryLoop(Api api, long seed) {
    this.api = api;
    random = new Random(seed);
    thread.start();
  }

  private void run() {
    while (running) {
      try {
        api.query("default", LoadedEngines.prompt(random), null, 16);
        answers.incrementAndGet();
      } catch (AssertionError | UncheckedIOException e) {
        failure = e;
        return;
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** Answers so far; none of the questions failed. */
  int answers() {
    assertThat(failure).as("a query failed after %d answers", answers.get()).isNull();
    return answers.get();
  }

  /** Asks no more. */
  @Override
  public void close() throws InterruptedException {
    running = false;
    thread.join();
  }
}
