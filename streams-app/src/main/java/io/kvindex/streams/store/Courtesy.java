// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Has who fills a copy wait as long as it works while the machine is busy. Nobody waits for a
 * second copy, but reading hundreds of thousands of rows into it takes a core for seconds: on a
 * full machine tables that are served fell behind the log meanwhile. Thread-safe; who gives way
 * waits.
 */
final class Courtesy {

  /** Share of all the process may use from which on it is busy. */
  private static final double BUSY = 0.85;

  /** A copy that follows already, or has become the owner, waits for that as well. */
  private static final long LONGEST_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final long LOOK_EVERY_NS = TimeUnit.MILLISECONDS.toNanos(250);

  private final DoubleSupplier load;
  private final LongSupplier nanoTime;
  private final LongConsumer pause;
  private double lastLoad;
  private long lookedNs;
  private long workingSinceNs;

  /** For this machine, or as much of it as the process' container may use. */
  Courtesy() {
    this(
        ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())::getCpuLoad,
        System::nanoTime,
        LockSupport::parkNanos);
  }

  /**
   * @param load 0 to 1, less than 0 = not known
   * @param pause waits for so many ns, or less
   */
  Courtesy(DoubleSupplier load, LongSupplier nanoTime, LongConsumer pause) {
    this.load = load;
    this.nanoTime = nanoTime;
    this.pause = pause;
    lookedNs = nanoTime.getAsLong() - LOOK_EVERY_NS;
    workingSinceNs = nanoTime.getAsLong();
  }

  /** To be called when a batch has been taken. */
  void giveWay() {
    long waitNs = waitNs();
    if (waitNs > 0) {
      pause.accept(waitNs);
      restart();
    }
  }

  private synchronized long waitNs() {
    long now = nanoTime.getAsLong();
    if (now - lookedNs >= LOOK_EVERY_NS) {
      lookedNs = now;
      lastLoad = load.getAsDouble();
    }
    long worked = now - workingSinceNs;
    workingSinceNs = now;
    return lastLoad < BUSY ? 0 : Math.min(LONGEST_NS, worked);
  }

  private synchronized void restart() {
    workingSinceNs = nanoTime.getAsLong();
  }
}
