// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a replica goes without anybody noticing: first it only says so, and answers on until load
 * balancers have heard; then its partitions are handed over, while it answers from memory; only
 * then it ends.
 */
final class Draining implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Draining.class);

  private final Runnable announce;
  private final Duration time;
  private final AutoCloseable handOver;
  private final AutoCloseable all;

  /**
   * @param announce makes {@code /ready} say no
   * @param time between that and handing over
   * @param handOver leaves the group; answers go on
   * @param all closes everything
   */
  Draining(Runnable announce, Duration time, AutoCloseable handOver, AutoCloseable all) {
    this.announce = announce;
    this.time = time;
    this.handOver = handOver;
    this.all = all;
  }

  @Override
  public void close() throws Exception {
    announce.run();
    LOG.info("draining: answering for another {} s", time.toSeconds());
    long until = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    try {
      handOver.close();
      LOG.info("partitions handed over");
    } finally {
      all.close();
    }
  }
}
