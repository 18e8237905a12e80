// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a process up until it is told to stop (SIGTERM, Ctrl-C), then closes it in order. */
final class UntilStopped {

  private static final Logger LOG = LoggerFactory.getLogger(UntilStopped.class);
  private static final long CLOSE_WITHIN_SECONDS = 30;

  private UntilStopped() {}

  /** Waits for the signal; returns when everything is closed. The JVM exits after that. */
  static void run(AutoCloseable process) throws InterruptedException {
    run(process, Duration.ZERO);
  }

  /**
   * The same for a process that takes its time.
   *
   * @param drain how much, beside what closing takes
   */
  static void run(AutoCloseable process, Duration drain) throws InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  asked.countDown();
                  await(closed, drain.toSeconds() + CLOSE_WITHIN_SECONDS);
                },
                "shutdown"));
    asked.await();
    try {
      process.close();
    } catch (Exception e) {
      LOG.error("did not close cleanly", e);
    } finally {
      closed.countDown();
    }
  }

  private static void await(CountDownLatch closed, long seconds) {
    try {
      if (!closed.await(seconds, TimeUnit.SECONDS)) {
        LOG.error("not closed within {} s, giving up", seconds);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
