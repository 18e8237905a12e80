// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.remote.ReplicaStatus.Detail;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The tables of all replicas: this one's own as long as they are kept up, else those of whoever has
 * them kept up.
 */
public final class ReplicatedIndexAccess implements IndexAccess, AutoCloseable {
  private final IndexAccess own;
  private final IndexPartitions partitions;
  private final ReplicaId id;
  private final Forwarding forwarding;
  private final Transport transport;
  private final ReplicaWatch others;

  /**
   * Begins to ask the others how far they are.
   *
   * @param own tables of this process alone
   * @param partitions the same by partition
   * @param id who this replica is
   * @param others {@code host:port} of the other replicas, in order; asked by any thread, must not
   *     wait
   * @param afterLook done after each look at the others, one to four times a second; must not wait
   */
  public ReplicatedIndexAccess(
      IndexAccess own,
      IndexPartitions partitions,
      ReplicaId id,
      Supplier<List<String>> others,
      Runnable afterLook,
      MeterRegistry registry) {
    this(own, partitions, id, others, new ReplicaClient(), registry, System::nanoTime);
    this.others.start(afterLook);
  }

  ReplicatedIndexAccess(
      IndexAccess own,
      IndexPartitions partitions,
      ReplicaId id,
      Supplier<List<String>> others,
      Transport transport,
      MeterRegistry registry,
      LongSupplier nanoTime) {
    this.own = own;
    this.partitions = partitions;
    this.id = id;
    this.transport = transport;
    Transport addressed = ReplicaService.aboutLog(partitions::logId, transport);
    this.others = new ReplicaWatch(partitions, others, addressed, registry, nanoTime);
    forwarding = new Forwarding(addressed, this.others.detector(), registry);
  }

  @Override
  public @Nullable TableView view(TableId table) {
    int partition = own.partitionOf(table);
    TableView here = own.view(table);
    if (here != null && others.lacksBeginning(partition)) {
      // What lacks older blocks is no more to be relied on than what lacks newer ones.
      here = new StaleView(here);
    }
    if (here != null && here.trust() == Trust.EXACT) {
      return here;
    }
    others.hurry();
    Holders holders = others.holders(partition);
    // A table that is new here may be as old as the disk, or lack nearly all.
    if (here == null || !partitions.wasClose(partition)) {
      return holders.inOrder().isEmpty() ? null : remote(table, holders, null);
    }
    if (holders.areCut()) {
      return here; // what lacks older blocks is no better
    }
    // As where Kafka is away: all are as old as this one.
    return holders.mayBeReady() ? remote(table, holders, here) : here;
  }

  private TableView remote(TableId table, Holders holders, @Nullable TableView spare) {
    long longestNanos = RemoteView.mayBeTold(spare) ? Race.BESIDE_OWN_NANOS : Race.LONGEST_NANOS;
    return new RemoteView(
        forwarding, table, holders, others.detector()::isSuspect, longestNanos, spare);
  }

  @Override
  public @Nullable String notReadyReason() {
    return partitions.notReadyReason(this::isKeptUpElsewhere);
  }

  private boolean isKeptUpElsewhere(int partition) {
    return others.isKeptUp(partition, null);
  }

  /** Whether another process of this replica's own copy keeps a partition up. */
  public boolean isKeptByOwnCopy(int partition) {
    return others.isKeptUp(partition, id.copy());
  }

  @Override
  public @Nullable String notReadyReason(TableId table) {
    return partitions.notReadyReason(own.partitionOf(table), this::isKeptUpElsewhere);
  }

  /** Of tables that are elsewhere it is a second old at most. */
  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    int partition = own.partitionOf(table);
    Detail detail = others.isElsewhere(partition) ? others.detail(partition) : null;
    return detail == null ? own.position(table, publisher) : detail.positions().get(publisher);
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    Map<PublisherId, Map<String, Long>> blocks = new HashMap<>(own.blocks());
    for (int i = 0; i < partitions.partitions(); i++) {
      Detail detail = others.isElsewhere(i) ? others.detail(i) : null;
      if (detail != null) {
        blocks.putAll(detail.blocks());
      }
    }
    return blocks;
  }

  /** All replicas and partitions, for people and tests. */
  public Supplier<ObjectNode> cluster() {
    return new ClusterJson(id, partitions, others)::describe;
  }

  /** Visible for tests. */
  ReplicaWatch others() {
    return others;
  }

  @Override
  public List<String> otherReplicas() {
    return others.others();
  }

  @Override
  public @Nullable String warning() {
    return own.warning();
  }

  @Override
  public String copy() {
    return own.copy();
  }

  @Override
  public @Nullable PartitionView partition(TableId table) {
    return own.partition(table);
  }

  @Override
  public int partitionOf(TableId table) {
    return own.partitionOf(table);
  }

  @Override
  public Collection<PartitionView> partitions() {
    return own.partitions();
  }

  @Override
  public void close() {
    others.close();
    transport.close();
  }
}
