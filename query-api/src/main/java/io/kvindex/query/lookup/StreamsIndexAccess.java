// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ErrorCode;
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

  /** What engines mean that name no medium. */
  private static final String UNNAMED_MEDIUM = "GPU";

  private static final PrefixIndex NOTHING_STORED = new PrefixIndex();

  private final IndexPartitions indexer;
  private final LongSupplier lagMs;

  /** Said by a process that reads no engines itself. */
  public static final long READ_ELSEWHERE = -1;

  /**
   * @param lagMs age of the oldest event that was read from an engine and is not visible here,
   *     milliseconds; {@link #READ_ELSEWHERE} = what waits in the log tells
   */
  public StreamsIndexAccess(IndexPartitions indexer, LongSupplier lagMs) {
    this.indexer = indexer;
    this.lagMs = lagMs;
  }

  @Override
  public @Nullable TableView view(TableId table) {
    int partition = partitionOf(table);
    PartitionView view = indexer.view(partition);
    if (view == null) {
      return null;
    }
    boolean keepsUp = indexer.keepsUp(partition);
    long lag = lagMs.getAsLong();
    boolean tells = keepsUp && lag != READ_ELSEWHERE;
    return new View(view, table, keepsUp, tells ? lag : Math.max(lag, indexer.ageMs(partition)));
  }

  @Override
  public @Nullable String notReadyReason(TableId table) {
    return indexer.notReadyReason(partitionOf(table));
  }

  @Override
  public @Nullable String notReadyReason() {
    return indexer.notReadyReason();
  }

  @Override
  public @Nullable String warning() {
    return indexer.warning();
  }

  @Override
  public String copy() {
    return indexer.copy();
  }

  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    // Only where the table is: a publisher that had another model or block size before has left a
    // position elsewhere, which nothing deletes.
    PartitionView view = indexer.view(partitionOf(table));
    return view == null ? null : view.position(StreamId.of(publisher));
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    Map<PublisherId, Map<String, Long>> blocks = new HashMap<>();
    partitions().forEach(view -> addBlocks(view, blocks));
    return blocks;
  }

  @Override
  public @Nullable PartitionView partition(TableId table) {
    return indexer.view(partitionOf(table));
  }

  @Override
  public int partitionOf(TableId table) {
    return TablePartition.of(table, indexer.partitions());
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

  /** Adds the blocks of a partition that queries can find, by publisher and medium. */
  public static void addBlocks(PartitionView view, Map<PublisherId, Map<String, Long>> to) {
    view.tables().values().forEach(index -> addBlocks(index, to));
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

  private record View(PartitionView partition, TableId table, boolean keepsUp, long lagMs)
      implements LocalView {

    @Override
    public PrefixIndex index() {
      PrefixIndex index = partition.tables().get(table);
      return index == null ? NOTHING_STORED : index;
    }

    /** Asked of what is read itself: what told of the event may have been another replica. */
    @Override
    public TableView within(Deadline deadline, long notBefore) {
      if (partition.appliedOffset() < notBefore) {
        throw ErrorCode.EVENT_NOT_VISIBLE.because(
            "offset " + notBefore + " of the events is not visible here yet; try again");
      }
      return this;
    }

    @Override
    public Trust trust() {
      // A live view may be far behind: after a start, after Kafka was away, under too much load.
      return keepsUp && !partition.isClosed() ? Trust.EXACT : Trust.STALE;
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
    public Map<String, String> loraNames(long loraId, Collection<String> instances) {
      Map<String, String> names = new HashMap<>();
      for (String instance : instances) {
        String name = partition.loraName(table, instance, loraId);
        if (name != null) {
          names.put(instance, name);
        }
      }
      return names;
    }
  }
}
