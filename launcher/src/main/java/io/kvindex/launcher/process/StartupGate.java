// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.query.peer.Peers;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

  /** Dynamo's bound for a whole dump; a longer one is taken over while this replica serves. */
  private static final long DUMP_SECONDS = 10;

  private StartupGate() {}

  /**
   * Takes over the dump of the first peer that answers, before engines are registered, if it comes
   * in time.
   */
  static void recover(Peers known, List<String> urls) throws InterruptedException {
    if (urls.isEmpty()) {
      return;
    }
    try {
      known.recover(urls).get(DUMP_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      LOG.warn("no peer's dump within {} s; serving meanwhile", DUMP_SECONDS);
    } catch (ExecutionException e) {
      LOG.warn("no peer's dump", e.getCause());
    }
  }

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
