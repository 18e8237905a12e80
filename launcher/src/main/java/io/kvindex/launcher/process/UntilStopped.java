// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

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
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  asked.countDown();
                  await(closed);
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

  private static void await(CountDownLatch closed) {
    try {
      if (!closed.await(CLOSE_WITHIN_SECONDS, TimeUnit.SECONDS)) {
        LOG.error("not closed within {} s, giving up", CLOSE_WITHIN_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
