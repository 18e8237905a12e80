// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.TableId;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.query.lookup.EmptyIndex;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Tables as a replica sees them that has none itself: every question goes to others. */
public final class Relayed {

  static final ReplicaId ID = new ReplicaId("own:1", "own", "0.1.0");

  private Relayed() {}

  /** Through the bytes that go over the wire, without a wire. */
  public static IndexAccess over(IndexAccess tables) {
    Placed placed = new Placed("");
    return new ReplicatedIndexAccess(
        new NoTables(),
        placed,
        ID,
        () -> List.of("holder:1"),
        new Loop(new ReplicaService(tables, placed, ID)),
        new SimpleMeterRegistry(),
        () -> 0); // answered at once, however long this machine stands still meanwhile
  }

  /** A replica without any table. */
  static class NoTables extends EmptyIndex {

    @Override
    public int partitionOf(TableId table) {
      return 0;
    }
  }

  /** One partition, of which nothing is here. */
  static class Placed implements IndexPartitions {
    private final String logId;

    Placed(String logId) {
      this.logId = logId;
    }

    @Override
    public String logId() {
      return logId;
    }

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
      return false;
    }

    @Override
    public @Nullable String notReadyReason() {
      return null;
    }
  }

  record Loop(ReplicaService service) implements Transport {

    @Override
    public void ask(String address, String path, byte[] body, long forNanos, Reply reply) {
      try {
        String[] parts = path.split("\\?");
        String parameters = parts.length < 2 ? null : parts[1];
        reply.told(
            Objects.requireNonNull(service.byPath().get(parts[0])).to(body, parameters), null);
      } catch (RuntimeException e) {
        reply.told(null, e);
      }
    }
  }
}
