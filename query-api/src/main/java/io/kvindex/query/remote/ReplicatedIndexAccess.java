// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.overview.Cluster;
import io.kvindex.query.remote.ReplicaStatus.Detail;
import io.kvindex.streams.Holders;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The tables of all replicas: this one's own, active or standby, as long as they are kept up, else
 * those of the replicas that hold them.
 */
public final class ReplicatedIndexAccess implements IndexAccess, AutoCloseable {
  private final IndexAccess own;
  private final IndexPartitions placement;
  private final Forwarding forwarding;
  private final Transport transport;
  private final StatusWatch others;
  private final SingleCopies singleCopies;

  /** Whether it was seen to be ready since it started; looked at with each status and question. */
  private volatile boolean wasReady;

  /**
   * @param own tables of this process alone
   * @param placement who holds which partition
   */
  public ReplicatedIndexAccess(IndexAccess own, IndexPartitions placement, MeterRegistry registry) {
    this(own, placement, new ReplicaClient(), registry, System::nanoTime);
    others.start(this::notReadyReason);
  }

  ReplicatedIndexAccess(
      IndexAccess own,
      IndexPartitions placement,
      Transport transport,
      MeterRegistry registry,
      LongSupplier nanoTime) {
    this.own = own;
    this.placement = placement;
    this.transport = new AddressedTransport(placement::cluster, transport);
    forwarding = new Forwarding(this.transport, registry);
    others = new StatusWatch(placement, this.transport, registry, nanoTime);
    singleCopies = new SingleCopies(placement, others, nanoTime);
  }

  @Override
  public @Nullable TableView view(TableId table) {
    TableView here = own.view(table);
    if (here != null && here.trust() == Trust.EXACT) {
      return here;
    }
    Holders holders = placement.holders(own.partitionOf(table));
    List<String> asked = others.silentLast(holders.inOrder());
    if (asked.isEmpty()) {
      return here;
    }
    // What a replica has that starts may be as old as its disk: whoever asks it before it is ready
    // can ask others, unless none of them says anything.
    TableView spare = wasReady() || others.isSilent(asked.get(0)) ? here : null;
    if (here == null || others.stoodStill()) {
      // What was left here is older than the time it stood still.
      boolean isOutdated = others.isAwakening() || isLeft(table);
      return remote(table, asked, Race.LONGEST_NANOS, isOutdated ? null : spare);
    }
    if (spare == null || isLeft(table) && !others.isSilent(asked.get(0))) {
      return remote(table, asked, Race.BESIDE_LEFT_NANOS, spare);
    }
    // Where nobody keeps it up, or who did is silent, copies are no better than the one here.
    String active = holders.active();
    return active == null || others.isSilent(active)
        ? here
        : remote(table, asked, Race.BESIDE_OWN_NANOS, here);
  }

  private boolean wasReady() {
    return wasReady || notReadyReason() == null;
  }

  private TableView remote(
      TableId table, List<String> asked, long longestNanos, @Nullable TableView spare) {
    return new RemoteView(forwarding, table, asked, others::isSilent, longestNanos, spare);
  }

  /**
   * Whether what is here is of a task that is elsewhere now: it follows nobody, and who has the
   * partition knows more, be he the owner or a copy.
   */
  private boolean isLeft(TableId table) {
    PartitionView view = placement.view(own.partitionOf(table));
    return view != null && view.state() == PartitionView.State.CLOSED;
  }

  @Override
  public @Nullable String notReadyReason() {
    String reason = orAwakening(own.notReadyReason());
    reason = reason == null ? singleCopies.notReadyReason() : reason;
    if (reason == null) {
      wasReady = true;
    }
    return reason;
  }

  /** Second copies are no matter of one context: they are for who restarts replicas in turn. */
  @Override
  public @Nullable String notReadyReason(TableId table) {
    return orAwakening(own.notReadyReason(table));
  }

  private @Nullable String orAwakening(@Nullable String reason) {
    return reason == null && others.isAwakening() && !placement.otherReplicas().isEmpty()
        ? "this replica stood still until a moment ago"
        : reason;
  }

  /** Of tables that are elsewhere it is a quarter of a second old. */
  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    int partition = own.partitionOf(table);
    Detail detail = others.isElsewhere(partition) ? others.detail(partition) : null;
    return detail == null ? own.position(table, publisher) : detail.positions().get(publisher);
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    Map<PublisherId, Map<String, Long>> blocks = new HashMap<>(own.blocks());
    for (int i = 0; i < placement.partitions(); i++) {
      Detail detail = others.isElsewhere(i) ? others.detail(i) : null;
      if (detail != null) {
        blocks.putAll(detail.blocks());
      }
    }
    return blocks;
  }

  /** All replicas and partitions, for people and tests. */
  public Cluster cluster() {
    return new ClusterJson(placement, others)::describe;
  }

  /** Visible for tests. */
  StatusWatch others() {
    return others;
  }

  @Override
  public List<String> otherReplicas() {
    return own.otherReplicas();
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
