// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import java.time.Duration;
import java.util.function.IntPredicate;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.Punctuator;
import org.apache.kafka.streams.processor.api.ProcessorContext;

/**
 * Commits a table before the interval is over where standbys wait for its rows, and with it all
 * others of its stream thread: Kafka Streams commits them together. It may follow the wall clock:
 * it says when rows are handed on, not what is in them. For a stream thread.
 */
final class EarlyCommits implements Punctuator {

  /** A standby is behind by as much. */
  private static final Duration EVERY = Duration.ofMillis(100);

  private final ProcessorContext<?, ?> context;
  private final IntPredicate standbysWait;

  private EarlyCommits(ProcessorContext<?, ?> context, IntPredicate standbysWait) {
    this.context = context;
    this.standbysWait = standbysWait;
  }

  /**
   * @param standbysWait whether a partition's rows are waited for, and none that is committed with
   *     them suffers by it
   */
  static void schedule(ProcessorContext<?, ?> context, IntPredicate standbysWait) {
    context.schedule(
        EVERY, PunctuationType.WALL_CLOCK_TIME, new EarlyCommits(context, standbysWait));
  }

  @Override
  public void punctuate(long now) {
    if (standbysWait.test(context.taskId().partition())) {
      context.commit();
    }
  }
}
