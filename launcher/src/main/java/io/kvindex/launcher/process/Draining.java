// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a replica goes without anybody noticing: first it only says so, and answers on until load
 * balancers have heard; then it leaves its group and writes its last checkpoints, while it answers
 * from memory; only then it ends.
 */
final class Draining implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Draining.class);

  private final Runnable announce;
  private final Duration time;
  private final AutoCloseable leave;
  private final AutoCloseable all;

  /**
   * @param announce makes {@code /ready} say no
   * @param time between that and leaving
   * @param leave leaves the group; answers go on
   * @param all closes everything
   */
  Draining(Runnable announce, Duration time, AutoCloseable leave, AutoCloseable all) {
    this.announce = announce;
    this.time = time;
    this.leave = leave;
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
      leave.close();
      LOG.info("the group is left, and the last checkpoints are written");
    } finally {
      all.close();
    }
  }
}
