// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.swap;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.remote.ServedTable;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** A table without partitions that is ready, asked for by others, and shows what a test says. */
final class ScriptedTable implements ServedTable.Keeper {

  /** What became of it, in order. */
  final Queue<String> history = new ConcurrentLinkedQueue<>();

  private final String application;
  private volatile @Nullable String notReady;
  private volatile List<String> others = List.of();
  private volatile long offset;

  ScriptedTable(String application) {
    this.application = application;
  }

  ScriptedTable notReady(@Nullable String reason) {
    notReady = reason;
    return this;
  }

  ScriptedTable sharedWith(String... addresses) {
    others = List.of(addresses);
    return this;
  }

  ScriptedTable showing(long newestOffset) {
    offset = newestOffset;
    return this;
  }

  ServedTable open() {
    return new ServedTable(
        application, new Index(), new Partitions(), this, new SimpleMeterRegistry());
  }

  @Override
  public void announceLeaving() {}

  @Override
  public void showFigures() {
    history.add("shown");
  }

  @Override
  public void hideFigures() {
    history.add("hidden");
  }

  @Override
  public void close() {
    history.add("closed");
  }

  @Override
  public void deleteRows() {
    history.add("deleted");
  }

  private final class Index implements IndexAccess {

    @Override
    public @Nullable TableView view(TableId table) {
      return null;
    }

    @Override
    public @Nullable String notReadyReason() {
      return notReady;
    }

    @Override
    public int partitionOf(TableId table) {
      return 0;
    }

    @Override
    public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
      return new StreamPosition(new Incarnation(1, 1, 0), null, offset, 0, 0, 0);
    }

    @Override
    public Map<PublisherId, Map<String, Long>> blocks() {
      return Map.of(new PublisherId(application, "default", 0), Map.of());
    }
  }

  private final class Partitions implements IndexPartitions {

    @Override
    public int partitions() {
      return 0;
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
    public @Nullable String notReadyReason() {
      return notReady;
    }
  }
}
