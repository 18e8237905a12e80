// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IndexMetersTest {

  private static final String READY = "kvindex.partition.ready";
  private static final String PROGRESS = "kvindex.partition.progress";
  private static final String AGE = "kvindex.partition.age";

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final Two partitions = new Two();

  /** The first partition is on its way, the second one as it should be. */
  private static final class Two implements IndexPartitions {
    private PartitionProgress progress = new PartitionProgress(Phase.BORROWING, 1_000, 4_000, 7);
    private @Nullable String notReady = "partition 0 is restoring rows";
    private long ageMs = 2_500;

    @Override
    public int partitions() {
      return 2;
    }

    @Override
    public @Nullable PartitionView view(int partition) {
      return null;
    }

    @Override
    public boolean keepsUp(int partition) {
      return partition == 1;
    }

    @Override
    public PartitionProgress progress(int partition) {
      return partition == 0 ? progress : PartitionProgress.of(Phase.READY);
    }

    @Override
    public @Nullable String notReadyReason(int partition) {
      return partition == 0 ? notReady : null;
    }

    @Override
    public long ageMs(int partition) {
      return partition == 0 ? ageMs : 0;
    }

    @Override
    public @Nullable String notReadyReason() {
      return notReady;
    }
  }

  @BeforeEach
  void register() {
    new IndexMeters(metrics).watch(partitions, p -> 0);
  }

  /** By partition. */
  private List<Double> values(String name) {
    assertThat(metrics.find(name).gauges()).as(name).hasSize(2);
    return List.of(gauge(name, "0").value(), gauge(name, "1").value());
  }

  private Gauge gauge(String name, String partition) {
    return metrics.get(name).tag("partition", partition).gauge();
  }

  @Test
  void shouldTellPartitionsApart_whenOneIsOnItsWay() {
    assertThat(values(READY)).containsExactly(0.0, 1.0);
    assertThat(values(PROGRESS)).containsExactly(0.25, 1.0);
    assertThat(values(AGE)).containsExactly(2.5, 0.0);
    assertThat(gauge(AGE, "0").getId().getBaseUnit()).isEqualTo("seconds");
  }

  @Test
  void shouldFollow_whenAPartitionGetsReadyAndGoesElsewhere() {
    partitions.progress = PartitionProgress.of(Phase.READY);
    partitions.notReady = null;
    partitions.ageMs = 0;
    assertThat(values(READY)).containsExactly(1.0, 1.0);
    assertThat(values(PROGRESS)).containsExactly(1.0, 1.0);
    assertThat(values(AGE)).containsExactly(0.0, 0.0);
    // Others hold it: it may be asked for here, and is not here.
    partitions.progress = PartitionProgress.of(Phase.ABSENT);
    assertThat(values(READY)).containsExactly(1.0, 1.0);
    assertThat(values(PROGRESS)).containsExactly(0.0, 1.0);
  }
}
