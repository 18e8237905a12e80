// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.dump.Digests;
import io.kvindex.streams.dump.TableDump;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The read view of a {@link PartitionTable}. */
public final class TableView implements PartitionView {

  /** Some 20 MiB while a dump runs. */
  private static final int DUMPED_AT_ONCE = 1 << 19;

  private final int partition;
  private final Tables tables;
  private final Names names;
  private final Streams streams;
  private final Orphans orphans;
  private volatile @Nullable Rows rows;
  private volatile boolean closed;
  private volatile long since;

  TableView(int partition, Tables tables, Names names, Streams streams, Orphans orphans) {
    this.partition = partition;
    this.tables = tables;
    this.names = names;
    this.streams = streams;
    this.orphans = orphans;
  }

  /** Reads the rows of a table as they are at one moment. */
  public interface Rows {
    /**
     * Returns what was found; null = there is nothing yet.
     *
     * @throws DumpFailedException if they can not be read
     */
    <T> @Nullable T read(Checkpoint.Reading<T> reading) throws DumpFailedException;
  }

  /** From where dumps and digests are read. Before the view is handed out. */
  public void readsFrom(Rows source) {
    rows = source;
  }

  private <T> @Nullable T read(Checkpoint.Reading<T> reading) throws DumpFailedException {
    Rows from = rows;
    if (from == null) {
      throw new DumpFailedException("the table has no rows on a disk");
    }
    return from.read(reading);
  }

  /** It was folded from that offset on. */
  public void foldedSince(long offset) {
    since = offset;
  }

  @Override
  public long since() {
    return since;
  }

  /** Nothing will change any more, or what changes is not to be trusted. For good. */
  public void closed() {
    closed = true;
  }

  @Override
  public int partition() {
    return partition;
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public Map<TableId, PrefixIndex> tables() {
    return Collections.unmodifiableMap(tables.indexes());
  }

  @Override
  public Collection<ContextNames> contexts(TableId table) {
    Integer ref = tables.tableRef(table);
    return ref == null ? List.of() : Collections.unmodifiableCollection(names.contexts(ref));
  }

  @Override
  public @Nullable String loraName(TableId table, String instanceId, long loraId) {
    Integer ref = tables.tableRef(table);
    return ref == null ? null : names.lora(ref, loraId, instanceId);
  }

  @Override
  public @Nullable StreamPosition position(StreamId stream) {
    return streams.positions().get(stream);
  }

  @Override
  public Map<StreamId, StreamPosition> positions() {
    return Collections.unmodifiableMap(streams.positions());
  }

  @Override
  public Set<PublisherId> degradedPublishers() {
    return streams.degradedPublishers();
  }

  @Override
  public int heldRecords() {
    return streams.heldRecords();
  }

  @Override
  public int orphans() {
    return orphans.size();
  }

  @Override
  public long appliedOffset() {
    return streams.appliedOffset();
  }

  @Override
  public void dump(TableId table, LongPredicate wanted, DumpVisitor visitor)
      throws IOException, DumpFailedException {
    @Nullable IOException[] ofVisitor = new IOException[1];
    read(
        rows -> {
          try {
            new TableDump(rows, DUMPED_AT_ONCE, wanted, visitor).run(table);
          } catch (IOException e) {
            ofVisitor[0] = e;
          }
          return rows;
        });
    if (ofVisitor[0] != null) {
      throw ofVisitor[0];
    }
  }

  @Override
  public PartitionDigest digest(Predicate<OwnerIdentity> wanted) throws DumpFailedException {
    PartitionDigest digest = read(rows -> Digests.of(rows, wanted));
    return digest == null ? new PartitionDigest(0, -1, 0, 0, 0, List.of()) : digest;
  }

  @Override
  public @Nullable List<HeldBlock> blocks(String ownerId, long from, int most)
      throws DumpFailedException {
    return read(rows -> Digests.blocks(rows, ownerId, from, most));
  }
}
