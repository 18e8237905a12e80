// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.RememberedBlocks;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.ReadViewQuery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback;
import org.apache.kafka.streams.processor.internals.Task.TaskType;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rows of a partition in RocksDB with their fold in memory beside them. Sits inside Kafka's
 * changelogging layer, so that it sees writes of the active task as well as rows restored from the
 * changelog, on standbys too.
 *
 * <p>The writer of the active task folds its own changes, because it knows what the rows held
 * before; restored rows are folded here.
 */
final class PrefixStore extends GuardedRows {

  /**
   * Rows of a key stay in their order. A memtable takes what lies side by side in half the time.
   */
  private static final Comparator<ConsumerRecord<byte[], byte[]>> BY_KEY =
      (one, other) -> Arrays.compareUnsigned(one.key(), other.key());

  private static final Logger LOG = LoggerFactory.getLogger(PrefixStore.class);

  private final Epochs epochs;
  private final SavedRows.Policy saving;
  private final Courtesy courtesy;
  private final FoldOfRows fold;
  private final Map<Integer, Instant> wentBack;
  private @Nullable StateStoreContext task;
  private @Nullable SavedRows saved;

  /** Null while nothing is restored row by row: whoever owns the table writes rows past it. */
  private volatile @Nullable RestoredBlocks blocks;

  /** The time the rows are of until what came since is read. */
  private volatile Instant rowsAreOf = Instant.MAX;

  /**
   * @param wentBack partitions of the process whose rows are what was saved of them, and when that
   *     was: a good part of the changelog is to be read
   */
  PrefixStore(
      KeyValueStore<Bytes, byte[]> inner,
      Epochs epochs,
      StoreFaults faults,
      SavedRows.Policy saving,
      Courtesy courtesy,
      Map<Integer, Instant> wentBack) {
    super(inner, faults);
    this.wentBack = wentBack;
    this.epochs = epochs;
    this.saving = saving;
    this.courtesy = courtesy;
    fold = new FoldOfRows(name(), this::approximateNumEntries);
  }

  @Override
  void open(StateStoreContext context, StateStore root) {
    task = context;
    SavedRows former = new SavedRows(context.stateDir().toPath(), name(), saving);
    if (mustBeginAnew()) {
      former.forget();
    }
    Instant takenBack = former.takeBack(Instant.now());
    saved = former;
    try {
      inner().init(new RestoreContext(context, this::restore, takenBack != null), root);
    } catch (TaskCorruptedException notClosedInOrder) {
      takenBack = former.replace(Instant.now());
      if (takenBack == null) {
        throw notClosedInOrder;
      }
      inner().init(new RestoreContext(context, this::restore, true), root);
    }
    int partition = context.taskId().partition();
    Instant of = takenBack == null ? wentBack.remove(partition) : takenBack;
    if (takenBack != null) {
      wentBack.put(partition, takenBack); // and is opened once more before anything is read
    }
    rowsAreOf = of == null ? Instant.now() : of;
    blocks = null;
    boolean empty = isEmpty();
    opened(empty);
    // Where a good part of the changelog is to be read, rows are loaded after that, once.
    fold.open(new PartitionTable(partition, inner(), epochs), empty || of != null);
  }

  private boolean isEmpty() {
    try (KeyValueIterator<Bytes, byte[]> all = all()) {
      return !all.hasNext();
    }
  }

  private PartitionTable loadedTable() {
    try {
      return fold.await();
    } catch (TableLoader.UnreadableException e) {
      throw damaged(e);
    }
  }

  /** Rows from the changelog, in the order they were written; a null value deletes. */
  private void restore(
      Collection<ConsumerRecord<byte[], byte[]>> batch, RecordBatchingStateRestoreCallback inner) {
    requireFollowed();
    if (fillInBulk(batch, inner)) {
      if (isCopy()) {
        courtesy.giveWay();
      }
      return;
    }
    PartitionTable table = loadedTable();
    RestoredBlocks blocks = restoredBlocks(table);
    for (ConsumerRecord<byte[], byte[]> row : batch) {
      if (row.key()[0] == RowKind.BLOCK) {
        blocks.take(row.key(), row.value());
      }
    }
    write(batch, inner);
    // Blocks refer to other rows, and who sees how far a stream is must see its blocks as well.
    foldBesideBlocks(batch, false);
    blocks.fold();
    table.settle();
    foldBesideBlocks(batch, true);
  }

  private void foldBesideBlocks(Collection<ConsumerRecord<byte[], byte[]>> batch, boolean places) {
    PartitionTable table = loadedTable();
    for (ConsumerRecord<byte[], byte[]> row : batch) {
      byte kind = row.key()[0];
      if (kind != RowKind.BLOCK && RowKind.isPlace(kind) == places) {
        table.fold(row.key(), row.value());
      }
    }
  }

  private RestoredBlocks restoredBlocks(PartitionTable table) {
    RestoredBlocks current = blocks;
    if (current == null) {
      current = new RestoredBlocks(table, this, new RememberedBlocks(RememberedBlocks.PLACES));
      blocks = current;
    }
    return current;
  }

  /** Whether the partition is another replica's; it may become this one's at any time. */
  private boolean isCopy() {
    return task instanceof InternalProcessorContext<?, ?> internal
        && internal.taskType() == TaskType.STANDBY;
  }

  /** Returns false if the rows must be folded one by one. */
  private boolean fillInBulk(
      Collection<ConsumerRecord<byte[], byte[]>> batch, RecordBatchingStateRestoreCallback inner) {
    return fold.fill(
        () -> {
          List<ConsumerRecord<byte[], byte[]>> copy = new ArrayList<>(batch);
          copy.sort(BY_KEY);
          return () -> write(copy, inner);
        });
  }

  /** Rows are where their offset says they are before it is written. */
  @Override
  public void commit(Map<TopicPartition, Long> changelogOffsets) {
    fold.finishFilling();
    super.commit(changelogOffsets);
    SavedRows copies = saved;
    RocksDB database = RocksAccess.database(inner());
    if (copies != null && database != null && !changelogOffsets.isEmpty() && copies.isDue()) {
      save(copies, database);
    }
  }

  private void save(SavedRows copies, RocksDB database) {
    if (mustBeginAnew()) {
      copies.forget();
    } else {
      copies.save(database, timeOfRows());
    }
  }

  private Instant timeOfRows() {
    return fold.isFilled() ? rowsAreOf : Instant.now();
  }

  /** Of the active task, whose {@link #commit} Kafka Streams does not call while it runs. */
  private boolean save(TopicPartition changelog, long last) {
    SavedRows copies = saved;
    RocksDB database = RocksAccess.database(inner());
    if (copies == null
        || database == null
        || !copies.isDue()
        || !copies.isMostlyWritten(database)) {
      return false;
    }
    try {
      inner().commit(Map.of(changelog, last));
      save(copies, database);
    } catch (ProcessorStateException e) {
      // The transaction is committed all the same; a disk that takes nothing shows at the next row.
      LOG.warn("rows of {} can not be saved: a crash will cost a full restore", changelog, e);
    }
    return true;
  }

  @Override
  @SuppressWarnings("unchecked") // the query's class says what it returns
  public <R> QueryResult<R> query(Query<R> query, PositionBound bound, QueryConfig config) {
    if (query instanceof TableAccessQuery) {
      requireFollowed();
      blocks = null;
      return answer((R) new OwnTable(loadedTable(), this::save));
    }
    if (query instanceof ReadViewQuery read) {
      PartitionView view = isOpen() ? fold.view(read.load()) : null;
      return view == null
          ? QueryResult.forFailure(FailureReason.NOT_PRESENT, "the store is not open")
          : answer((R) view);
    }
    return QueryResult.forUnknownQueryType(query, this);
  }

  private <R> QueryResult<R> answer(R result) {
    QueryResult<R> answer = QueryResult.forResult(result);
    answer.setPosition(getPosition());
    return answer;
  }

  @Override
  public void close() {
    fold.end();
    try {
      fold.finishFilling();
    } finally {
      closeRows();
    }
  }
}
