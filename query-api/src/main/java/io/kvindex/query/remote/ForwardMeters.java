// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;

/** Figures of questions put to other replicas. Thread-safe. */
final class ForwardMeters {
  private final Timer answered;
  private final Counter unanswered;
  private final Counter hedged;
  private final Counter crowded;

  ForwardMeters(MeterRegistry registry) {
    answered =
        Timer.builder("kvindex.forward.time")
            .description("time until another replica answered")
            .publishPercentiles(0.5, 0.99)
            .register(registry);
    unanswered =
        Counter.builder("kvindex.forward.unanswered")
            .description("questions none of the replicas that hold a partition answered in time")
            .register(registry);
    hedged =
        Counter.builder("kvindex.forward.hedged")
            .description(
                "questions put to another replica because the first one failed or was late")
            .register(registry);
    crowded =
        Counter.builder("kvindex.forward.crowded")
            .description("questions not put to other replicas as too many waited for them already")
            .register(registry);
  }

  /** Nobody is asked: what is here is told, or nothing. */
  void crowded() {
    crowded.increment();
  }

  void asked(Race<?> race, boolean nobody, long nanos) {
    hedged.increment(Math.max(0, race.asked() - 1)); // nobody is asked where no time is left
    if (nobody) {
      unanswered.increment();
    } else {
      answered.record(nanos, TimeUnit.NANOSECONDS);
    }
  }
}
