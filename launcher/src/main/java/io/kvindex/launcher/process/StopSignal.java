// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends, at SIGTERM and Ctrl-C, what the thread that made it is doing, wherever it is: interrupts
 * it, and has the JVM wait until it has closed what it has. For work that leaves something behind
 * if nobody clears up. Closed last, by that thread.
 */
final class StopSignal implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StopSignal.class);
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(60);
  private static final Duration CLOSE_PROCESS_WITHIN = Duration.ofSeconds(30);

  private final Thread worker = Thread.currentThread();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook = new Thread(this::stop, "shutdown");
  private final long closeWithinSeconds;
  private boolean asked;
  private boolean closing;

  private StopSignal(Duration closeWithin) {
    closeWithinSeconds = closeWithin.toSeconds();
  }

  /** Keeps a process up until it comes, and closes it in order; the JVM exits after that. */
  static void runUntil(AutoCloseable process) {
    try (StopSignal stop = install(CLOSE_PROCESS_WITHIN)) {
      try {
        stop.await();
      } catch (InterruptedException e) {
        LOG.debug("told to stop", e);
      } finally {
        stop.close(process);
      }
    }
  }

  static StopSignal install() {
    return install(CLOSE_WITHIN);
  }

  /**
   * For work that has its own time to close.
   *
   * @param closeWithin how long the JVM waits for it
   */
  static StopSignal install(Duration closeWithin) {
    StopSignal signal = new StopSignal(closeWithin);
    Runtime.getRuntime().addShutdownHook(signal.hook);
    return signal;
  }

  /** What the signal does; returns when all is closed, or it takes too long. */
  void stop() {
    synchronized (this) {
      asked = true;
      if (!closing) {
        worker.interrupt();
      }
    }
    try {
      if (!closed.await(closeWithinSeconds, TimeUnit.SECONDS)) {
        LOG.error("not closed within {} s, giving up", closeWithinSeconds);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether it came. */
  synchronized boolean isAsked() {
    return asked;
  }

  /** Until it comes, or came; ends by being interrupted. */
  void await() throws InterruptedException {
    if (isAsked()) {
      throw new InterruptedException("told to stop");
    }
    closed.await();
  }

  /**
   * The work is over and what it has is being closed: nothing may interrupt that. Called by the
   * worker.
   */
  synchronized void closing() {
    closing = true;
    if (Thread.interrupted()) {
      LOG.debug("interrupted, closing all the same");
    }
  }

  /** The same, and closes what there is. */
  void close(AutoCloseable parts) {
    closing();
    try {
      parts.close();
    } catch (Exception e) {
      LOG.error("did not close cleanly", e);
    }
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      LOG.debug("the JVM is on its way out already");
    }
  }
}
