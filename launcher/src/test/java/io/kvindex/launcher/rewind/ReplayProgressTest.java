// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.fold.Outcome;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReplayProgressTest {

  private static final ReplayPlan PLAN =
      new ReplayPlan(
          List.of(new LogPart(0, 0, 10, null), new LogPart(1, 5, 25, null)),
          new TreeMap<>(Map.of(0, 0L, 1, 5L)));

  /**
   * Both partitions as one that has dealt with the offset.
   *
   * @param offset -1 = nothing, null = it is not loaded
   * @param following the partition that has all there is, -1 = neither
   */
  private record Taken(@Nullable Long offset, int following) implements IndexPartitions {

    @Override
    public int partitions() {
      return 2;
    }

    @Override
    public @Nullable PartitionView view(int partition) {
      return offset == null
          ? null
          : (PartitionView)
              Proxy.newProxyInstance(
                  Taken.class.getClassLoader(),
                  new Class<?>[] {PartitionView.class},
                  (view, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("appliedOffset");
                    return offset;
                  });
    }

    @Override
    public boolean keepsUp(int partition) {
      return partition == following;
    }

    @Override
    public @Nullable String notReadyReason() {
      return null;
    }
  }

  private static ReplayProgress progress(@Nullable Long taken, int following) {
    return new ReplayProgress(PLAN, new Taken(taken, following), new SimpleMeterRegistry());
  }

  @Test
  void shouldCountWhatTheTablesHaveTaken() {
    assertThat(progress(null, -1).records()).isZero();
    assertThat(progress(-1L, -1).records()).isZero();
    ReplayProgress progress = progress(7L, -1);
    assertThat(progress.records()).isEqualTo(8 + 3);
    assertThat(progress.isDone()).isFalse();
    assertThat(progress(24L, -1).isDone()).isTrue();
  }

  /** Retention took what was left, so no record will ever tell that the end is reached. */
  @Test
  void shouldBeDoneWithATable_whenItHasAllThereIs() {
    assertThat(progress(-1L, 1).records()).isEqualTo(20);
    assertThat(progress(-1L, 1).isDone()).isFalse();
    assertThat(progress(9L, 1).isDone()).isTrue();
  }

  @Test
  void shouldCountWhatCouldNotBeRead() {
    SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    ReplayProgress progress = new ReplayProgress(PLAN, new Taken(0L, -1), metrics);
    assertThat(progress.unreadable()).isZero();
    metrics.counter("kvindex.records", "outcome", "applied").increment(7);
    metrics.counter("kvindex.records", "outcome", Outcome.UNDECODABLE.label()).increment(2);
    assertThat(progress.unreadable()).isEqualTo(2);
  }
}
