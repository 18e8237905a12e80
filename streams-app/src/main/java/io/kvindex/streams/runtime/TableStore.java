// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.LockException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.StoreBuilder;
import org.jspecify.annotations.Nullable;

/**
 * A task's hold on the process's table, and nothing else: what is folded is in the table, when it
 * reaches the disk is the table's own affair, and it goes on living when the task ends. For the
 * task's stream thread; queries may come from any.
 */
final class TableStore implements StateStore {

  private final String topic;
  private final ProcessTables tables;
  private int partition;
  private volatile @Nullable FoldedTable table;

  private TableStore(String topic, ProcessTables tables) {
    this.topic = topic;
    this.tables = tables;
  }

  @Override
  public String name() {
    return TableTopology.STORE;
  }

  /**
   * Takes the table.
   *
   * @throws LockException if it is not there yet, or another task has it: the only exception at the
   *     only place for which Kafka Streams tries again by itself, without harm to other tasks
   */
  @Override
  public void init(StateStoreContext context, StateStore root) {
    int of = context.taskId().partition();
    // Before the store is registered: Kafka Streams passes over one that is when it tries again.
    FoldedTable taken = tables.at(of).take(this);
    try {
      context.register(root, (key, value) -> {});
    } catch (RuntimeException e) {
      tables.at(of).release(this);
      throw e;
    }
    partition = of;
    table = taken;
  }

  /** The table; between {@link #init} and {@link #close}. */
  FoldedTable table() {
    return Objects.requireNonNull(table, "the store is not open");
  }

  /** Of no meaning: where reading goes on is in the table, with what was folded. */
  @Override
  public void commit(Map<TopicPartition, Long> changelogOffsets) {}

  /** So that Kafka Streams keeps no directory for the task, and no offsets in it. */
  @Override
  public boolean persistent() {
    return false;
  }

  @Override
  public boolean isOpen() {
    return table != null;
  }

  @Override
  public void close() {
    FoldedTable written = table;
    if (written != null && tables.at(partition).inUse() == written) {
      written.released();
    }
    table = null;
    tables.at(partition).release(this);
  }

  @Override
  @SuppressWarnings("unchecked") // the query's class says what it returns
  public <R> QueryResult<R> query(Query<R> query, PositionBound bound, QueryConfig config) {
    if (!(query instanceof TableViewQuery)) {
      return QueryResult.forUnknownQueryType(query, this);
    }
    FoldedTable there = table;
    if (there == null || tables.at(partition).inUse() != there) {
      return QueryResult.forFailure(FailureReason.NOT_PRESENT, "the table is not in use");
    }
    Position position = positionOf(there);
    Long wanted = bound.position().getPartitionPositions(topic).get(partition);
    if (wanted != null && wanted > there.foldedOffset()) {
      return QueryResult.notUpToBound(position, bound, partition);
    }
    QueryResult<R> answer = QueryResult.forResult((R) there.view());
    answer.setPosition(position);
    return answer;
  }

  @Override
  public Position getPosition() {
    FoldedTable there = table;
    return there == null ? Position.emptyPosition() : positionOf(there);
  }

  private Position positionOf(FoldedTable of) {
    long folded = of.foldedOffset();
    return folded < 0
        ? Position.emptyPosition()
        : Position.emptyPosition().withComponent(topic, partition, folded);
  }

  /**
   * Without changelog and cache, whatever it is asked for.
   *
   * @param topic the log
   */
  record Builder(String topic, ProcessTables tables) implements StoreBuilder<TableStore> {

    @Override
    public TableStore build() {
      return new TableStore(topic, tables);
    }

    @Override
    public String name() {
      return TableTopology.STORE;
    }

    @Override
    public boolean loggingEnabled() {
      return false;
    }

    @Override
    public Map<String, String> logConfig() {
      return Map.of();
    }

    @Override
    public Builder withLoggingDisabled() {
      return this;
    }

    @Override
    public Builder withLoggingEnabled(Map<String, String> config) {
      throw new UnsupportedOperationException("the log itself is the changelog");
    }

    @Override
    public Builder withCachingDisabled() {
      return this;
    }

    @Override
    public Builder withCachingEnabled() {
      throw new UnsupportedOperationException("the table is in memory");
    }
  }
}
