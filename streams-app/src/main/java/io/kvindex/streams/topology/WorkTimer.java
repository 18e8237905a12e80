// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import java.time.Duration;
import java.util.function.LongPredicate;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.jspecify.annotations.Nullable;

/**
 * Work that is done from time to time while some is left. Kafka Streams commits a task after each
 * punctuation, also one that nothing has happened to: a timer that always runs costs a transaction
 * a second for nothing, on every replica ({@code StreamTask.maybePunctuateSystemTime}, Kafka 4.3).
 * It may follow the wall clock, for work that answers do not depend on. For a stream thread.
 */
final class WorkTimer {

  private final ProcessorContext<?, ?> context;
  private final Duration every;
  private final LongPredicate work;
  private @Nullable Cancellable running;

  /**
   * @param work told the time in ms since the epoch; whether some is left
   */
  WorkTimer(ProcessorContext<?, ?> context, Duration every, LongPredicate work) {
    this.context = context;
    this.every = every;
    this.work = work;
  }

  /** There is something to do, when the interval is over. */
  void start() {
    if (running == null) {
      running = context.schedule(every, PunctuationType.WALL_CLOCK_TIME, this::run);
    }
  }

  /** Nothing more is to be done. */
  void stop() {
    if (running != null) {
      running.cancel();
      running = null;
    }
  }

  private void run(long nowMs) {
    Cancellable now = running;
    if (now != null && !work.test(nowMs)) {
      now.cancel();
      running = null;
    }
  }
}
