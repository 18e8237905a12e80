// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StandbyUpdateListener.SuspendReason;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.Test;

class RestoreWatchTest {

  private static final TopicPartition CHANGELOG = new TopicPartition("changelog", 3);
  private static final String STORE = "rows";

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final RestoreWatch watch = new RestoreWatch(metrics);

  private PartitionProgress progress() {
    return Objects.requireNonNull(watch.reading(3)).progress();
  }

  /** Of a compacted log fewer rows come than offsets pass. */
  @Test
  void shouldSayHowFarItIs_byOffsets() {
    watch.onRestoreStart(CHANGELOG, STORE, 1_000, 5_000);
    assertThat(progress().percent()).isZero();
    watch.onBatchRestored(CHANGELOG, STORE, 1_999, 10);
    assertThat(progress().percent()).isEqualTo(25);
    assertThat(progress().text()).startsWith("restoring rows: 1000 of 4000 (25 %");
    assertThat(metrics.counter("kvindex.restore.rows").count()).isEqualTo(10);
    watch.onRestoreEnd(CHANGELOG, STORE, 10);
    assertThat(watch.reading(3)).isNull();
  }

  @Test
  void shouldFollowTheEnd_whenItIsAStandby() {
    watch.onUpdateStart(CHANGELOG, STORE, 100);
    watch.onBatchLoaded(CHANGELOG, STORE, new TaskId(0, 3), 149, 50, 300);
    assertThat(progress().percent()).isEqualTo(25);
    watch.onBatchLoaded(CHANGELOG, STORE, new TaskId(0, 3), 349, 200, 200);
    assertThat(progress().percent()).as("the end moved on").isEqualTo(100);
    assertThat(Objects.requireNonNull(watch.reading(3)).position()).isEqualTo(350);
    assertThat(Objects.requireNonNull(watch.reading(3)).standby()).isTrue();
    watch.onUpdateSuspended(CHANGELOG, STORE, 350, 350, SuspendReason.PROMOTED);
    assertThat(watch.reading(3)).isNull();
  }
}
