// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class ReadingPlaceTest {

  private static final TopicPartition PART = new TopicPartition("kvindex.events", 2);

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final ReadingPlace place = new ReadingPlace(metrics);
  private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");

  ReadingPlaceTest() {
    consumer.assign(List.of(PART));
    consumer.updateBeginningOffsets(Map.of(PART, 4L));
  }

  private double again() {
    return metrics.counter("kvindex.log.records.again").count();
  }

  @Test
  void shouldReadAgain_whatWasFetchedForATaskThatEnded() {
    consumer.seek(PART, 766);
    assertThat(place.toCommitted(consumer, PART, new OffsetAndMetadata(745))).isEqualTo(745);
    assertThat(consumer.position(PART)).isEqualTo(745);
    assertThat(again()).isEqualTo(21);
  }

  @Test
  void shouldGoOn_whereItIs() {
    consumer.seek(PART, 745);
    place.toCommitted(consumer, PART, new OffsetAndMetadata(745));
    assertThat(consumer.position(PART)).isEqualTo(745);
    assertThat(again()).isZero();
  }

  @Test
  void shouldBeginAnew_whenNothingWasCommittedYet() {
    consumer.seek(PART, 766);
    assertThat(place.toCommitted(consumer, PART, null)).isEqualTo(-1);
    assertThat(consumer.position(PART)).isEqualTo(4);
  }
}
