// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.topology.TaskPlace;
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
    assertThat(begin(745, 744)).isEqualTo(TaskPlace.Start.at(745));
    assertThat(consumer.position(PART)).isEqualTo(745);
    assertThat(again()).isEqualTo(21);
  }

  @Test
  void shouldGoOn_whereItIs() {
    consumer.seek(PART, 745);
    begin(745, 744);
    assertThat(consumer.position(PART)).isEqualTo(745);
    assertThat(again()).isZero();
  }

  @Test
  void shouldBeginAnew_whenNothingWasCommittedYet() {
    consumer.seek(PART, 766);
    assertThat(place.toCommitted(consumer, PART, null, -1)).isEqualTo(TaskPlace.ANYWHERE);
    assertThat(consumer.position(PART)).isEqualTo(4);
  }

  /** Kafka forgets places of groups that nobody is in for a week. */
  @Test
  void shouldBeginAnewAndMissWhatIsGone_whenThePlaceWasForgotten() {
    consumer.seek(PART, 766);
    assertThat(place.toCommitted(consumer, PART, null, 12)).isEqualTo(new TaskPlace.Start(-1, 13));
    assertThat(consumer.position(PART)).isEqualTo(4);
  }

  private TaskPlace.Start begin(long committed, long applied) {
    return place.toCommitted(
        consumer, PART, new OffsetAndMetadata(committed, "written by Streams"), applied);
  }

  /** A changelog that lost its last rows, or all of them. */
  @Test
  void shouldReadAgain_whatTheRowsHaveNothingOf() {
    consumer.seek(PART, 745);
    assertThat(begin(745, 700)).isEqualTo(TaskPlace.Start.at(701));
    assertThat(consumer.position(PART)).isEqualTo(701);
    assertThat(begin(745, -1)).isEqualTo(TaskPlace.Start.at(0));
    assertThat(consumer.position(PART)).isZero();
    assertThat(again()).isZero();
  }

  /** The log was made anew since: offsets of rows say nothing about it. */
  @Test
  void shouldGoOn_whenRowsAreBeyond() {
    assertThat(begin(745, 5_000)).isEqualTo(TaskPlace.Start.at(745));
    assertThat(consumer.position(PART)).isEqualTo(745);
  }

  @Test
  void shouldBegin_whereARebuildWasToldTo() {
    assertThat(place.toCommitted(consumer, PART, new OffsetAndMetadata(745), -1))
        .isEqualTo(TaskPlace.Start.at(745));
    assertThat(consumer.position(PART)).isEqualTo(745);
  }
}
