// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A commit stops the table for a while: it is asked for only where somebody waits. */
class EarlyCommitsTest {

  private static final int PARTITION = 3;

  private final MockProcessorContext<Void, Void> context =
      new MockProcessorContext<>(new Properties(), new TaskId(0, PARTITION), null);

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldCommit_whenStandbysWaitForThePartition(boolean wait) {
    EarlyCommits.schedule(context, partition -> partition == PARTITION && wait);
    punctuate();
    assertThat(context.committed()).isEqualTo(wait);
  }

  @Test
  void shouldAskEachTime_whenStandbysComeAndGo() {
    AtomicInteger waiting = new AtomicInteger();
    EarlyCommits.schedule(context, partition -> waiting.get() > 0);
    punctuate();
    assertThat(context.committed()).isFalse();
    waiting.set(1);
    punctuate();
    assertThat(context.committed()).isTrue();
  }

  private void punctuate() {
    context.scheduledPunctuators().forEach(scheduled -> scheduled.getPunctuator().punctuate(0));
  }
}
