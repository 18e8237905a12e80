// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StandbyUpdateListener.SuspendReason;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.Test;

class RestoreWatchTest {

  private static final TopicPartition CHANGELOG = new TopicPartition("changelog", 3);
  private static final String STORE = "rows";

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final List<String> ahead = new ArrayList<>();
  private final RestoreWatch watch =
      new RestoreWatch(
          metrics, (partition, next, end) -> ahead.add(partition + " at " + next + " of " + end));

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
  void shouldTellOfRowsBeyondTheEnd_andOfNoOthers() {
    watch.onRestoreStart(CHANGELOG, STORE, 1_000, 1_001);
    watch.onRestoreStart(CHANGELOG, STORE, 1_000, 1_000);
    watch.onRestoreStart(CHANGELOG, STORE, 0, 0);
    assertThat(ahead).isEmpty();
    watch.onRestoreStart(CHANGELOG, STORE, 1_000, 999);
    assertThat(ahead).containsExactly("3 at 1000 of 999");
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

  /** Offsets a second since it began, wherever the log began. */
  @Test
  void shouldSayHowFastItIs_sinceItBegan() {
    assertThat(begun(-4).perSecond()).as("2000 in 4 s, or a little more").isBetween(100L, 500L);
    assertThat(begun(-4).text()).matches("restoring rows: 2000 of 8000 \\(25 %, \\d+/s\\)");
  }

  @Test
  void shouldSayNothingOfItsSpeed_whenItHasJustBegun() {
    assertThat(begun(3_600).perSecond()).isZero();
    assertThat(begun(3_600).text()).isEqualTo("restoring rows: 2000 of 8000 (25 %)");
  }

  /**
   * @param seconds from now
   */
  private static PartitionProgress begun(long seconds) {
    long startedNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    return new RestoreWatch.Reading(false, 1_000, 3_000, 9_000, startedNs, startedNs).progress();
  }
}
