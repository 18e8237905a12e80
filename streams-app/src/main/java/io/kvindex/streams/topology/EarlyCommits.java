// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import java.time.Duration;
import java.util.function.IntPredicate;
import org.apache.kafka.streams.processor.api.ProcessorContext;

/**
 * Commits a table before the interval is over where standbys wait for its rows, and with it all
 * others of its stream thread: Kafka Streams commits them together. It may follow the wall clock:
 * it says when rows are handed on, not what is in them. For a stream thread.
 */
final class EarlyCommits {

  /**
   * A standby is behind by as much. Each is a transaction: what it writes besides rows, to Kafka's
   * own topics and all copies of them, costs the brokers more than the rows of a quiet table.
   */
  static final Duration EVERY = Duration.ofMillis(250);

  /** How often tasks of this thread have asked. */
  private static final ThreadLocal<Long> ASKED = ThreadLocal.withInitial(() -> 0L);

  private final ProcessorContext<?, ?> context;
  private final IntPredicate standbysWait;
  private final WorkTimer timer;
  private long askedBefore;

  /**
   * @param standbysWait whether a partition's rows are waited for, and none that is committed with
   *     them suffers by it
   */
  EarlyCommits(ProcessorContext<?, ?> context, IntPredicate standbysWait) {
    this.context = context;
    this.standbysWait = standbysWait;
    timer = new WorkTimer(context, EVERY, now -> ask());
  }

  /** A record was applied. */
  void applied() {
    askedBefore = ASKED.get();
    timer.start();
  }

  /** The task ends. */
  void stop() {
    timer.stop();
  }

  /** What another task of the thread has asked for since is not asked for again. */
  private boolean ask() {
    long asked = ASKED.get();
    if (asked == askedBefore && standbysWait.test(context.taskId().partition())) {
      context.commit();
      ASKED.set(asked + 1);
    }
    return false;
  }
}
