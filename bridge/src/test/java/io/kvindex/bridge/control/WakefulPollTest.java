// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WakefulPollTest {

  private static final TopicPartition SOURCE = new TopicPartition("topic", 0);

  private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");
  private final WakefulPoll poll = new WakefulPoll(consumer);

  @BeforeEach
  void assign() {
    consumer.assign(List.of(SOURCE));
    consumer.updateBeginningOffsets(Map.of(SOURCE, 0L));
  }

  @Test
  void shouldEndAWait_whenItIsWoken() {
    consumer.schedulePollTask(poll::wakeUp);
    assertThat(poll.poll(() -> Duration.ofHours(1))).isEmpty();
  }

  @Test
  void shouldEndAWait_whenSomethingIsAddedBeforeItIsKnownHowLong() {
    assertThat(
            poll.poll(
                () -> {
                  poll.wakeUp();
                  return Duration.ofHours(1);
                }))
        .isEmpty();
    thenReads();
  }

  @Test
  void shouldDoNothing_whenNobodyWaits() {
    poll.wakeUp();
    thenReads();
  }

  private void thenReads() {
    consumer.addRecord(new ConsumerRecord<>("topic", 0, 0, new byte[0], new byte[0]));
    assertThat(poll.poll(() -> Duration.ZERO)).hasSize(1);
  }
}
