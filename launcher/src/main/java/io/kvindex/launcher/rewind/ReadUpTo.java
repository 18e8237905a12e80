// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Kafka says an application need not read any more: what it has committed, and what retention
 * has taken. A table that was opened anew knows nothing of what it read before, and where nothing
 * is left to be read it never learns of it. Asks once a second at most. For one thread.
 */
final class ReadUpTo {

  private static final Logger LOG = LoggerFactory.getLogger(ReadUpTo.class);
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Look look;
  private final Map<Integer, Long> known = new HashMap<>();
  private long nextNanos = System.nanoTime();

  /** Asks Kafka. */
  interface Look {

    /**
     * First record that may still have to be read, by partition.
     *
     * @throws IllegalStateException if Kafka does not say
     */
    Map<Integer, Long> now() throws InterruptedException;
  }

  ReadUpTo(Look look) {
    this.look = look;
  }

  /**
   * The same of a running application.
   *
   * @param partitions of the events topic
   */
  static ReadUpTo of(ReplayGroup group, EventLog log, int partitions) {
    return new ReadUpTo(
        () -> {
          Map<Integer, Long> all = new HashMap<>(log.firsts(partitions));
          group.committed().forEach((partition, offset) -> all.merge(partition, offset, Math::max));
          return all;
        });
  }

  /** First record of a partition that may still have to be read, 0 = any. */
  long first(int partition) throws InterruptedException {
    if (System.nanoTime() - nextNanos >= 0) {
      try {
        known.putAll(look.now());
      } catch (IllegalStateException e) {
        LOG.warn("how far the rebuild is can not be looked up now: {}", e.getMessage());
      }
      nextNanos = System.nanoTime() + LOOK_NANOS;
    }
    return known.getOrDefault(partition, 0L);
  }
}
