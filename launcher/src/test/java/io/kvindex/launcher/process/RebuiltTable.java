// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.remote.ServedTable;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A table that no other replica has; without partitions until it is given some. */
final class RebuiltTable implements ServedTable.Keeper {

  private final Runnable left;
  private volatile int partitions;

  /**
   * @param left done when it leaves its group
   */
  RebuiltTable(Runnable left) {
    this.left = left;
  }

  void partitions(int number) {
    partitions = number;
  }

  ServedTable open(String application) {
    return new ServedTable(
        application, new Index(), new Partitions(), this, new SimpleMeterRegistry());
  }

  @Override
  public void showFigures() {}

  @Override
  public void hideFigures() {}

  @Override
  public void announceLeaving() {}

  @Override
  public void close() {
    left.run();
  }

  @Override
  public void deleteRows() {}

  private final class Partitions implements IndexPartitions {

    @Override
    public int partitions() {
      return partitions;
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
    public @Nullable String notReadyReason() {
      return null;
    }
  }

  private static final class Index implements IndexAccess {

    @Override
    public @Nullable TableView view(TableId table) {
      return null;
    }

    @Override
    public @Nullable String notReadyReason() {
      return null;
    }

    @Override
    public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
      return null;
    }

    @Override
    public Map<PublisherId, Map<String, Long>> blocks() {
      return Map.of();
    }
  }
}
