// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.TableView;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a partition is said to be doing, from its coming here to its going elsewhere. */
class ReadinessTest {

  private static final TopicPartition CHANGELOG = new TopicPartition("changelog", 0);
  private static final String STORE = "rows";

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final LocalViews views = new LocalViews();
  private final Backlog lag = new Backlog();
  private final RestoreWatch restores = new RestoreWatch(metrics, (partition, next, end) -> {});
  private final Replicas replicas = new Replicas("a:1", 1);
  private final StreamFailures failures = new StreamFailures(true, metrics);
  private final Readiness readiness = new Readiness(1, views, lag, restores, replicas, failures);
  private final TableView view =
      new PartitionTable(0, Stores.inMemoryKeyValueStore(STORE).get(), new Epochs()).view();

  /** Ten records behind until it is told otherwise. */
  private static final class Backlog implements Readiness.Lag {
    private @Nullable String tooFar = "partition 0 is 10 records behind";
    private boolean caughtUp;

    @Override
    public boolean keepsUp(int partition) {
      return tooFar == null;
    }

    @Override
    public boolean caughtUp(int partition) {
      return caughtUp;
    }

    @Override
    public PartitionProgress progress(int partition) {
      return new PartitionProgress(Phase.CATCHING_UP, 40, 50, 0);
    }

    @Override
    public @Nullable String tooFarBehind(int partition) {
      return tooFar;
    }
  }

  private void assertNotReady(Phase phase, double percent, String reason) {
    assertThat(readiness.progress(0).phase()).isEqualTo(phase);
    assertThat(readiness.progress(0).percent()).isEqualTo(percent);
    assertThat(readiness.notReadyReason()).startsWith(reason);
    assertThat(readiness.notReadyReason(0)).isEqualTo(readiness.notReadyReason());
  }

  @Test
  void shouldNameEachPhaseAndHowFarItIs_onTheWayToAnswering() {
    assertNotReady(Phase.ABSENT, 0, "partition 0 is not here");
    views.take(0, view);
    assertNotReady(Phase.RESTORING, 0, "partition 0 is restoring rows");
    restores.onRestoreStart(CHANGELOG, STORE, 100, 500);
    restores.onBatchRestored(CHANGELOG, STORE, 199, 60);
    assertNotReady(Phase.RESTORING, 25, "partition 0 is restoring rows: 100 of 400 (25 %");
    view.loading(30, 120);
    assertNotReady(Phase.LOADING, 25, "partition 0 is loading its index: 30 of 120 (25 %)");
    view.loaded();
    assertNotReady(Phase.RESTORING, 25, "partition 0 is restoring rows: 100 of 400 (25 %");
    restores.onRestoreEnd(CHANGELOG, STORE, 60);
    view.live();
    assertNotReady(Phase.CATCHING_UP, 80, "partition 0 is 10 records behind");
    lag.tooFar = null;
    assertThat(readiness.progress(0)).isEqualTo(PartitionProgress.of(Phase.READY));
    assertThat(readiness.notReadyReason()).isNull();
    assertThat(readiness.notReadyReason(0)).isNull();
  }

  @Test
  void shouldTakeNoTraffic_whenItIsAboutToGo() {
    lag.tooFar = null;
    views.take(0, view);
    view.live();
    assertThat(readiness.notReadyReason()).isNull();
    readiness.leave();
    assertThat(readiness.notReadyReason()).contains("being stopped");
    assertThat(readiness.notReadyReason(0)).as("it answers until it goes").isNull();
  }

  @Test
  void shouldGoOnAnsweringAsStale_whenThePartitionWentElsewhere() {
    lag.tooFar = null;
    views.take(0, view);
    view.live();
    view.closed();
    assertThat(readiness.progress(0)).isEqualTo(PartitionProgress.of(Phase.STALE));
    assertThat(readiness.notReadyReason(0)).isNull();
  }

  /** It is kept in memory for a minute, and others go on with the log. */
  @Test
  void shouldNotCountWhatIsLeftOfAPartition_whenOthersHoldIt() {
    views.take(0, view);
    view.live();
    view.closed();
    assertThat(readiness.notReadyReason()).isEqualTo("partition 0 is 10 records behind");
    replicas.refresh(
        List.of(ReplicasTest.client("b", new int[] {0}), ReplicasTest.client("a", new int[0], 1)));
    assertThat(readiness.notReadyReason()).isNull();
    assertThat(readiness.notReadyReason(0)).isNull();
    assertThat(readiness.progress(0)).isEqualTo(PartitionProgress.of(Phase.STALE));
  }

  /** The answers are those of the former view, which nobody keeps up. */
  @Test
  void shouldBeCatchingUp_whileTheServedViewKnowsMore() {
    lag.tooFar = null;
    views.take(0, known(State.CLOSED, 1_000));
    views.take(0, known(State.LIVE, 999));
    assertThat(readiness.progress(0).phase()).isEqualTo(Phase.CATCHING_UP);
    views.take(0, known(State.LIVE, 1_000));
    assertThat(readiness.progress(0).phase()).isEqualTo(Phase.READY);
  }

  @Test
  void shouldNotWaitForThePartition_whenOthersHoldIt() {
    lag.tooFar = null;
    replicas.refresh(List.of(ReplicasTest.client("b", new int[] {0})));
    assertNotReady(Phase.ABSENT, 0, "partition 0 is not here");
    replicas.refresh(
        List.of(ReplicasTest.client("b", new int[] {0}), ReplicasTest.client("a", new int[0], 1)));
    assertThat(readiness.notReadyReason(0)).isNull();
    assertThat(readiness.progress(0)).isEqualTo(PartitionProgress.of(Phase.ABSENT));
  }

  /** Later some lag of the one that is asked is no reason to send routers away. */
  @Test
  void shouldWaitUntilOthersHadCaughtUpOnce_withAPartitionTheyHold() {
    replicas.refresh(
        List.of(ReplicasTest.client("b", new int[] {0}), ReplicasTest.client("a", new int[0], 1)));
    assertThat(readiness.notReadyReason(0)).isEqualTo("partition 0 is 10 records behind");
    lag.caughtUp = true;
    assertThat(readiness.notReadyReason(0)).isNull();
  }

  @Test
  void shouldSayWhyItGaveUp_whateverElseThereIs() {
    failures.giveUp("the disk is full");
    assertThat(readiness.notReadyReason()).isEqualTo("the disk is full");
    assertThat(readiness.notReadyReason(0)).as("of a model").isEqualTo("the disk is full");
  }

  /** Knows its state and how far it is. */
  private static PartitionView known(State state, long applied) {
    return (PartitionView)
        Proxy.newProxyInstance(
            ReadinessTest.class.getClassLoader(),
            new Class<?>[] {PartitionView.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "state" -> state;
                  case "complete" -> true;
                  case "appliedOffset" -> applied;
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "equals" -> proxy == arguments[0];
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
