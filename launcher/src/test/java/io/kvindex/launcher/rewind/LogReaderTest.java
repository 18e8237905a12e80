// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** What is read of a stretch of the log, and what retention does to it meanwhile. */
class LogReaderTest {

  private static final TopicPartition PART = new TopicPartition("events", 0);

  private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");
  private final List<Long> taken = new ArrayList<>();

  LogReaderTest() {
    consumer.assign(List.of(PART));
    consumer.updateBeginningOffsets(Map.of(PART, 0L));
    consumer.seek(PART, 3);
  }

  private void hold(long from, long to) {
    for (long offset = from; offset < to; offset++) {
      consumer.addRecord(new ConsumerRecord<>(PART.topic(), 0, offset, new byte[0], new byte[0]));
    }
  }

  private void read(long to) {
    LogReader.Sink sink = record -> taken.add(record.offset());
    LogReader.read(consumer, PART, 3, to, sink);
  }

  @Test
  void shouldReadUpToWhereItWasTold() {
    hold(3, 9);
    read(7);
    assertThat(taken).containsExactly(3L, 4L, 5L, 6L);
  }

  @Test
  void shouldSayWhatIsMissing_whenRecordsWereDeletedWhileItRead() {
    hold(3, 5);
    hold(8, 12);
    assertThatThrownBy(() -> read(10))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("retention took records 5 to 7 of events-0 away");
    assertThat(taken).containsExactly(3L, 4L);
  }

  @Test
  void shouldSayWhatIsMissing_whenAllThatWasLeftWasDeleted() {
    hold(3, 5);
    hold(20, 21);
    assertThatThrownBy(() -> read(10)).hasMessageContaining("records 5 to 9");
  }
}
