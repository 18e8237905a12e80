// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The tables of this process's own indexer. */
public final class StreamsIndexAccess implements IndexAccess {

  private static final PrefixIndex NOTHING_STORED = new PrefixIndex();

  /** What engines mean that name no medium. */
  private static final String UNNAMED_MEDIUM = "GPU";

  private final IndexPartitions indexer;
  private final LongSupplier lagMs;

  /**
   * @param lagMs age of the oldest event that was read from an engine and is not visible here,
   *     milliseconds
   */
  public StreamsIndexAccess(IndexPartitions indexer, LongSupplier lagMs) {
    this.indexer = indexer;
    this.lagMs = lagMs;
  }

  @Override
  public @Nullable TableView view(TableId table) {
    int partition = TablePartition.of(table, indexer.partitions());
    PartitionView view = indexer.view(partition);
    return view == null || !view.complete()
        ? null
        : new View(view, table, indexer.keepsUp(partition), lagMs.getAsLong());
  }

  @Override
  public @Nullable String notReadyReason() {
    return indexer.notReadyReason();
  }

  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    // Only where the table is: a publisher that had another model or block size before has left a
    // position elsewhere, which nothing deletes.
    PartitionView view = indexer.view(TablePartition.of(table, indexer.partitions()));
    return view == null ? null : view.position(StreamId.of(publisher));
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    Map<PublisherId, Map<String, Long>> blocks = new HashMap<>();
    for (int partition = 0; partition < indexer.partitions(); partition++) {
      PartitionView view = indexer.view(partition);
      if (view != null) {
        view.tables().values().forEach(index -> addBlocks(index, blocks));
      }
    }
    return blocks;
  }

  private static void addBlocks(PrefixIndex index, Map<PublisherId, Map<String, Long>> to) {
    OwnerView owners = index.owners();
    for (int slot = 0; slot < owners.slots(); slot++) {
      Owner owner = owners.owner(slot);
      if (owner != null) {
        String medium = owner.medium();
        to.computeIfAbsent(
                new PublisherId(owner.instanceId(), owner.tenantId(), owner.publisherRank()),
                publisher -> new TreeMap<>())
            .merge(medium == null ? UNNAMED_MEDIUM : medium, index.members(slot), Long::sum);
      }
    }
  }

  @Override
  public @Nullable PartitionView partition(TableId table) {
    return indexer.view(TablePartition.of(table, indexer.partitions()));
  }

  @Override
  public Collection<PartitionView> partitions() {
    List<PartitionView> views = new ArrayList<>();
    for (int partition = 0; partition < indexer.partitions(); partition++) {
      PartitionView view = indexer.view(partition);
      if (view != null) {
        views.add(view);
      }
    }
    return views;
  }

  private record View(PartitionView partition, TableId table, boolean keepsUp, long lagMs)
      implements TableView {

    @Override
    public PrefixIndex index() {
      PrefixIndex index = partition.tables().get(table);
      return index == null ? NOTHING_STORED : index;
    }

    @Override
    public Trust trust() {
      // A live view may be far behind: after a start, after Kafka was away, under too much load.
      boolean kept = keepsUp && partition.state() == PartitionView.State.LIVE;
      return kept ? Trust.EXACT : Trust.STALE;
    }

    @Override
    public Set<PublisherId> degradedPublishers() {
      return partition.degradedPublishers();
    }

    @Override
    public Collection<ContextNames> contexts() {
      return partition.contexts(table);
    }

    @Override
    public Collection<String> loraNames(String instanceId, long loraId) {
      if (loraId > Integer.MAX_VALUE) {
        return List.of(); // events with such a number are refused
      }
      String name = partition.loraName(table, instanceId, (int) loraId);
      return name == null ? List.of() : List.of(name);
    }
  }
}
