// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedPunctuator;
import org.junit.jupiter.api.Test;

/** Kafka Streams commits after each punctuation: nothing runs without need. */
class WorkTimerTest {

  private static final Duration EVERY = Duration.ofMillis(200);

  private final MockProcessorContext<Void, Void> context =
      new MockProcessorContext<>(new Properties(), new TaskId(0, 0), null);
  private int left;
  private final WorkTimer timer = new WorkTimer(context, EVERY, now -> --left > 0);

  @Test
  void shouldGoOn_whileWorkIsLeft() {
    left = 3;
    timer.start();
    timer.start();
    assertThat(punctuate()).isEqualTo(1);
    assertThat(punctuate()).isEqualTo(1);
    assertThat(punctuate()).isEqualTo(1);
    assertThat(punctuate()).isZero();
  }

  @Test
  void shouldBeginAgain_whenItIsStartedAgain() {
    assertThat(punctuate()).isZero();
    timer.start();
    assertThat(punctuate()).isEqualTo(1);
    assertThat(punctuate()).isZero();
    timer.start();
    assertThat(punctuate()).isEqualTo(1);
  }

  @Test
  void shouldDoNothingMore_whenItsTaskHasEnded() {
    left = 3;
    timer.start();
    assertThat(punctuate()).isEqualTo(1);
    timer.stop();
    timer.stop();
    assertThat(punctuate()).isZero();
    assertThat(left).isEqualTo(2);
  }

  /** Returns how many ran. */
  private int punctuate() {
    int ran = 0;
    for (CapturedPunctuator scheduled : context.scheduledPunctuators()) {
      if (!scheduled.cancelled()) {
        assertThat(scheduled.getInterval()).isEqualTo(EVERY);
        scheduled.getPunctuator().punctuate(0);
        ran++;
      }
    }
    return ran;
  }
}
