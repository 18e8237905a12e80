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

  /** Both partitions as one that has dealt with the offset, -1 = was just opened. */
  private record Taken(long offset) implements IndexPartitions {

    @Override
    public int partitions() {
      return 2;
    }

    @Override
    public PartitionView view(int partition) {
      return (PartitionView)
          Proxy.newProxyInstance(
              Taken.class.getClassLoader(),
              new Class<?>[] {PartitionView.class},
              (view, method, arguments) -> {
                assertThat(method.getName()).isEqualTo("takenOffset");
                return offset;
              });
    }

    @Override
    public boolean keepsUp(int partition) {
      return true;
    }

    @Override
    public @Nullable String notReadyReason() {
      return null;
    }
  }

  private static ReplayProgress progress(long taken, ReadUpTo.Look look) {
    return new ReplayProgress(
        PLAN, new Taken(taken), new ReadUpTo(look), new SimpleMeterRegistry());
  }

  @Test
  void shouldCountWhatTheTablesHaveTaken() throws InterruptedException {
    ReplayProgress progress = progress(7, () -> Map.of(0, 0L, 1, 5L));
    assertThat(progress.records()).isEqualTo(8 + 3);
    assertThat(progress.isDone()).isFalse();
    assertThat(progress(24, () -> Map.of(0, 0L, 1, 5L)).isDone()).isTrue();
  }

  @Test
  void shouldCountWhatCouldNotBeRead() {
    SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    ReplayProgress progress =
        new ReplayProgress(PLAN, new Taken(0), new ReadUpTo(() -> Map.of()), metrics);
    assertThat(progress.unreadable()).isZero();
    metrics.counter("kvindex.records", "outcome", "applied").increment(7);
    metrics.counter("kvindex.records", "outcome", Outcome.UNDECODABLE.label()).increment(2);
    assertThat(progress.unreadable()).isEqualTo(2);
  }

  @Test
  void shouldBeDone_whenATableIsOpenedAnewAndAllIsCommitted() throws InterruptedException {
    ReplayProgress progress = progress(-1, () -> Map.of(0, 12L, 1, 25L));
    assertThat(progress.records()).isEqualTo(PLAN.records());
    assertThat(progress.isDone()).isTrue();
  }

  @Test
  void shouldNotBeDone_whenOnePartitionHasRecordsLeft() throws InterruptedException {
    assertThat(progress(-1, () -> Map.of(0, 10L, 1, 24L)).isDone()).isFalse();
  }

  @Test
  void shouldGoOnWithWhatTheTablesSay_whenKafkaDoesNotAnswer() throws InterruptedException {
    ReplayProgress progress =
        progress(
            9,
            () -> {
              throw new IllegalStateException("Kafka does not answer");
            });
    assertThat(progress.records()).isEqualTo(10 + 5);
  }
}
