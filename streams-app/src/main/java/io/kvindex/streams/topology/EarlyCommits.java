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

  /**
   * No record is applied during a commit. On a machine that is full one takes as long as the
   * interval, and a table that is committed all the time would fall behind what is published; hence
   * they take a fifth of a thread's time at most.
   */
  private static final int REST = 4;

  /** How often tasks of this thread have asked. */
  private static final ThreadLocal<Long> ASKED = ThreadLocal.withInitial(() -> 0L);

  private final ProcessorContext<?, ?> context;
  private final IntPredicate standbysWait;
  private final WorkTimer timer;
  private final CommitTime time;
  private long askedBefore;

  /**
   * @param standbysWait whether a partition's rows are waited for, and none that is committed with
   *     them suffers by it
   * @param time of the thread's commits
   */
  EarlyCommits(ProcessorContext<?, ?> context, IntPredicate standbysWait, CommitTime time) {
    this.context = context;
    this.time = time;
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

  /**
   * What another task of the thread has asked for since is not asked for again.
   *
   * @return whether to look again: it is too early
   */
  private boolean ask() {
    long asked = ASKED.get();
    if (asked != askedBefore || !standbysWait.test(context.taskId().partition())) {
      return false;
    }
    if (!time.isLongAgo(REST)) {
      return true;
    }
    context.commit();
    ASKED.set(asked + 1);
    return false;
  }
}
