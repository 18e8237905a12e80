// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a server does with itself before it says that it is ready. */
final class StartupGate {

  private static final Logger LOG = LoggerFactory.getLogger(StartupGate.class);
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final long TELL_EVERY_NS = TimeUnit.SECONDS.toNanos(10);

  private StartupGate() {}

  /**
   * Waits until the index may be asked, however long loading takes, and logs what it waits for.
   * Engines that are not registered yet are not waited for: they may be registered by what follows.
   *
   * @param whyNot null once it may be asked
   */
  static void await(Supplier<@Nullable String> whyNot) throws InterruptedException {
    long toldNs = System.nanoTime();
    for (String reason = whyNot.get(); reason != null; reason = whyNot.get()) {
      if (System.nanoTime() - toldNs > TELL_EVERY_NS) {
        toldNs = System.nanoTime();
        LOG.info("not ready yet: {}", reason);
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }
}
