// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.overview.Cluster;
import io.kvindex.query.remote.ReplicaService.Held;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tables queries are answered from, of whichever application serves: another one takes its
 * place between two questions. What a question has begun to read it reads to the end. Readers: any
 * thread, never waiting. Who changes tables: one thread.
 */
public final class ServingIndex implements IndexAccess, ReplicaService.Tables {

  /**
   * @param beside being filled, or has just served; null = none
   * @param changing whether a question may meet one table first and then the other
   */
  private record Now(ServedTable serving, @Nullable ServedTable beside, boolean changing) {}

  private volatile Now now;

  /**
   * @param serving the table to begin with; closed by whoever takes it from here
   */
  public ServingIndex(ServedTable serving) {
    now = new Now(serving, null, false);
  }

  /** The table queries are answered from. */
  public ServedTable table() {
    return now.serving;
  }

  /** The other one, null = there is none. */
  public @Nullable ServedTable beside() {
    return now.beside;
  }

  /** Puts a table beside the one that serves; other replicas may ask for it from now on. */
  public void addBeside(ServedTable other) {
    Now seen = now;
    if (seen.beside != null) {
      throw new IllegalStateException("BUG: a third table, " + other.application());
    }
    now = new Now(seen.serving, other, false);
  }

  /** Takes the one beside away; the caller closes it. */
  public ServedTable removeBeside() {
    ServedTable beside = Objects.requireNonNull(now.beside, "no table beside the one that serves");
    now = new Now(now.serving, null, false);
    return beside;
  }

  /**
   * Announces that the tables change places, or that they have: for a while an event counts as
   * visible only once it is in both, since who waited for it may read either.
   */
  public void changing(boolean yes) {
    now = new Now(now.serving, now.beside, yes);
  }

  /** Makes the one beside the serving one, and the other way round. */
  public void swap() {
    ServedTable next = Objects.requireNonNull(now.beside, "no table beside the one that serves");
    next.goOnFor(now.serving);
    now = new Now(next, now.serving, now.changing);
  }

  @Override
  public @Nullable Held of(String application) {
    Now seen = now;
    if (seen.serving.application().equals(application)) {
      return seen.serving.held();
    }
    ServedTable beside = seen.beside;
    return beside != null && beside.application().equals(application) ? beside.held() : null;
  }

  @Override
  public String serving() {
    return now.serving.application();
  }

  /** Tells of the replicas of the table that serves. */
  public Cluster cluster() {
    return () -> now.serving.cluster().describe();
  }

  private IndexAccess index() {
    return now.serving.index();
  }

  @Override
  public @Nullable TableView view(TableId table) {
    return index().view(table);
  }

  @Override
  public TableView readable(TableId table) {
    return index().readable(table);
  }

  @Override
  public @Nullable String notReadyReason() {
    return index().notReadyReason();
  }

  @Override
  public @Nullable String notReadyReason(TableId table) {
    return index().notReadyReason(table);
  }

  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    Now seen = now;
    StreamPosition here = seen.serving.index().position(table, publisher);
    ServedTable beside = seen.beside;
    if (!seen.changing || beside == null || here == null) {
      return here;
    }
    StreamPosition there = beside.index().position(table, publisher);
    return there == null || there.sourceOffset() < here.sourceOffset() ? there : here;
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    return index().blocks();
  }

  @Override
  public List<String> otherReplicas() {
    return index().otherReplicas();
  }

  @Override
  public @Nullable PartitionView partition(TableId table) {
    return index().partition(table);
  }

  @Override
  public int partitionOf(TableId table) {
    return index().partitionOf(table);
  }

  @Override
  public Collection<PartitionView> partitions() {
    return index().partitions();
  }
}
