// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What follows when a stream thread ends: another takes its place, after a pause that grows while
 * none of them lasts. Where only a person can help, none does; the replica goes on answering from
 * memory and says why it is not ready.
 */
final class StreamFailures implements StreamsUncaughtExceptionHandler, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StreamFailures.class);
  private static final long FIRST_PAUSE_MS = 250;
  private static final long LONGEST_PAUSE_MS = 60_000;

  /** A thread that lived for so long has worked. */
  private static final long LASTED_NS = TimeUnit.MINUTES.toNanos(5);

  private final CountDownLatch closing = new CountDownLatch(1);
  private final Counter failures;
  private final String name;
  private long pauseMs;
  private long lastNs = System.nanoTime() - LASTED_NS;
  private volatile @Nullable String lastWord;

  /**
   * @param name what this process is, for people
   */
  StreamFailures(String name, MeterRegistry metrics) {
    this.name = name;
    failures =
        Counter.builder("kvindex.stream.failures")
            .description("stream threads that ended by an error")
            .register(metrics);
  }

  /** Why the tables are not kept any more, null = they are. */
  @Nullable String givenUp() {
    return lastWord;
  }

  /** Only a person can help: says so until the process ends. */
  void giveUp(String why, Throwable failure) {
    lastWord = why;
    LOG.error("the tables are not kept any more, answers grow stale: {}", why, failure);
  }

  @Override
  public StreamThreadExceptionResponse handle(Throwable failure) {
    failures.increment();
    String hopeless = hopeless(failure);
    if (hopeless != null) {
      giveUp(hopeless, failure);
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }
    long ms = nextPause();
    LOG.error("stream thread failed, another takes its place in {} ms", ms, failure);
    try {
      closing.await(ms, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return StreamThreadExceptionResponse.REPLACE_THREAD;
  }

  private synchronized long nextPause() {
    long now = System.nanoTime();
    pauseMs =
        now - lastNs >= LASTED_NS
            ? FIRST_PAUSE_MS
            : Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, pauseMs * 2));
    lastNs = now;
    return pauseMs;
  }

  private @Nullable String hopeless(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof FencedInstanceIdException) {
        return "another process runs as " + name;
      }
    }
    return null;
  }

  /** Nobody waits any more. */
  @Override
  public void close() {
    closing.countDown();
  }
}
