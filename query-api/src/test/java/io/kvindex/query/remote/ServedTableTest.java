// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.remote.ReplicaService.Held;
import io.kvindex.query.remote.ReplicaService.Tables;
import io.kvindex.streams.Holders;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What one replica believes of another, as far as it decides on changing over. */
class ServedTableTest {

  private static final String TABLE = "kvindex-table-1";
  private static final Duration SILENCE = Duration.ofMinutes(1);

  private final One other = new One();
  private final One own = new One();
  private String serving = "kvindex";
  private final ServedTable table = table();

  /** Of the one partition there is, it has nothing itself. */
  private static final class One implements IndexPartitions {
    private @Nullable String notReady;
    private List<String> others = List.of("other:1");

    @Override
    public int partitions() {
      return 1;
    }

    @Override
    public @Nullable PartitionView view(int partition) {
      return null;
    }

    @Override
    public boolean keepsUp(int partition) {
      return true;
    }

    @Override
    public List<String> otherReplicas() {
      return others;
    }

    @Override
    public Holders holders(int partition) {
      return new Holders("other:1", List.of());
    }

    @Override
    public @Nullable String notReadyReason() {
      return notReady;
    }
  }

  private ServedTable table() {
    Tables there =
        new Tables() {
          @Override
          public @Nullable Held of(String application) {
            return application.equals(TABLE) ? new Held(new Relayed.NoTables(), other) : null;
          }

          @Override
          public String serving() {
            return serving;
          }
        };
    Held here = new Held(new Relayed.NoTables(), own);
    return new ServedTable(
        TABLE,
        here,
        new NoKeeper(),
        new ReplicatedIndexAccess(
            TABLE,
            here.own(),
            own,
            new Relayed.Loop(new ReplicaService(there)),
            new SimpleMeterRegistry(),
            System::nanoTime));
  }

  private @Nullable String whyNotWhole() {
    ((ReplicatedIndexAccess) table.index()).others().look();
    return table.whyNotWhole();
  }

  @Test
  void shouldBeWhole_whenAnotherReplicaThatStaysHasThePartition() {
    assertThat(table.whyNotWhole()).as("nobody has said anything").contains("partition 0");
    assertThat(whyNotWhole()).isNull();
    assertThat(table.leastCopiesElsewhere()).isOne();
  }

  @Test
  void shouldNotBeWhole_whenTheOtherReplicaLeavesOrIsNotReady() {
    other.notReady = "a rebuild: it leaves";
    assertThat(whyNotWhole()).contains("partition 0 is whole on no replica");
    assertThat(table.leastCopiesElsewhere()).isZero();
  }

  @Test
  void shouldNotBeWhole_whenItIsNotReadyItself() {
    own.notReady = "partition 0 is not measured yet";
    assertThat(whyNotWhole()).isEqualTo("partition 0 is not measured yet");
  }

  @Test
  void shouldBeServedByThoseThatHaveNotSaidOtherwise() throws InterruptedException {
    assertThat(table.stillServedBy(SILENCE)).isEmpty();
    assertThat(table.servedBy()).isEmpty();
    serving = TABLE;
    assertThat(table.stillServedBy(SILENCE)).containsExactly("other:1");
    assertThat(table.servedBy()).containsExactly("other:1");
  }

  @Test
  void shouldBeServedByAReplicaItsGroupHasForgotten_untilThatSaysOtherwise()
      throws InterruptedException {
    serving = TABLE;
    table.noteReplicas();
    own.others = List.of();
    assertThat(table.stillServedBy(SILENCE)).containsExactly("other:1");
    serving = "kvindex";
    assertThat(table.stillServedBy(SILENCE)).isEmpty();
  }
}
