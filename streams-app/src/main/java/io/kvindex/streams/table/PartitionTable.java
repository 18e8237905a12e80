// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.ContextRow;
import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.LogRow;
import io.kvindex.streams.row.LoraRow;
import io.kvindex.streams.row.OrphanRow;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.row.TableRow;
import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * A partition's fold of its rows. One writer at a time: the loading thread first, then the thread
 * that owns the task; the read view may be used by any thread.
 */
public final class PartitionTable {

  /** Rows other rows refer to, before those. What hashes mean is not folded. */
  private static final byte[] LOAD_ORDER = {
    RowKind.TABLE,
    RowKind.SPACE,
    RowKind.CONTEXT,
    RowKind.LORA,
    RowKind.PUBLISHER,
    RowKind.OWNER,
    RowKind.LOG,
    RowKind.STREAM,
    RowKind.HELD,
    RowKind.ORPHAN,
    RowKind.BLOCK
  };

  private final KeyValueStore<Bytes, byte[]> rows;
  private final Tables tables;
  private final Names names = new Names();
  private final Publishers publishers = new Publishers();
  private final Owners owners;
  private final Residency residency;
  private final Orphans orphans = new Orphans();
  private final Streams streams = new Streams();

  /** Publishers whose groups changed since rows were last settled. */
  private final Set<Integer> regrouped = new HashSet<>();

  private final TableView view;

  /**
   * @param partition partition of the events topic
   * @param rows where the rows are
   * @param epochs shared by all indexes of the process
   */
  public PartitionTable(int partition, KeyValueStore<Bytes, byte[]> rows, Epochs epochs) {
    this.rows = rows;
    tables = new Tables(epochs);
    owners = new Owners(tables, publishers);
    residency = new Residency(new StoreRows(rows), publishers, tables);
    view = new TableView(partition, rows, tables, names, streams, orphans);
  }

  private record StoreRows(KeyValueStore<Bytes, byte[]> store) implements Residency.Rows {
    @Override
    public byte @Nullable [] get(Bytes key) {
      return store.get(key);
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
      return store.range(from, to);
    }
  }

  /** Asked between rows while loading. */
  public interface Cancelled {
    boolean now();
  }

  /**
   * Folds every row there is.
   *
   * @return false if it was cancelled: the table is then of no use
   */
  public boolean load(Cancelled cancelled) {
    for (byte kind : LOAD_ORDER) {
      try (KeyValueIterator<Bytes, byte[]> all =
          rows.range(RowKeys.first(kind), RowKeys.first(kind + 1))) {
        while (all.hasNext()) {
          if (cancelled.now()) {
            return false;
          }
          KeyValue<Bytes, byte[]> row = all.next();
          fold(row.key.get(), row.value);
        }
      }
    }
    return true;
  }

  /**
   * Follows the change of one row, which is written already. A residency row is taken for a new one
   * here; see {@link #foldBlock} for one that may not be.
   *
   * @param after its value now, null = deleted
   */
  public void fold(byte[] key, byte @Nullable [] after) {
    switch (key[0]) {
      case RowKind.BLOCK ->
          foldBlock(
              RowKeys.id(key),
              RowKeys.hash(key),
              RowKeys.blockGroup(key),
              null,
              after == null ? null : BlockRow.decode(after));
      case RowKind.CONTENT -> {} // only who writes needs what hashes mean, and asks the rows
      case RowKind.OWNER -> foldOwner(RowKeys.id(key), after);
      case RowKind.ORPHAN ->
          orphans.fold(
              RowKeys.id(key),
              RowKeys.hash(key),
              RowKeys.intAfterHash(key),
              RowKeys.orphanGroup(key),
              after == null ? null : OrphanRow.decode(after));
      case RowKind.HELD ->
          streams.foldHeld(
              RowKeys.id(key),
              RowKeys.hash(key),
              RowKeys.intAfterHash(key),
              after == null ? null : HeldRow.decode(after));
      default -> {
        if (after != null) {
          foldDictionary(key, after);
        }
      }
    }
  }

  /**
   * To be called after each batch of restored rows, all of which are written and folded: takes in
   * what had to wait for a row that came later.
   */
  public void settle() {
    owners.settle().forEach(residency::load);
    regrouped.forEach(ref -> owners.live(ref).forEach(residency::reload));
    regrouped.clear();
  }

  private void foldDictionary(byte[] key, byte[] value) {
    int id = RowKeys.id(key);
    switch (key[0]) {
      case RowKind.TABLE -> tables.foldTable(id, TableRow.decode(value));
      case RowKind.SPACE -> tables.foldSpace(id, SpaceRow.decode(value));
      case RowKind.CONTEXT -> names.foldContext(id, RowKeys.hash(key), ContextRow.decode(value));
      case RowKind.LORA ->
          names.foldLora(
              id, RowKeys.loraId(key), RowKeys.loraInstance(key), LoraRow.decode(value).name());
      case RowKind.PUBLISHER -> foldPublisher(id, PublisherRow.decode(value));
      case RowKind.STREAM -> streams.fold(id, StreamRow.decode(value));
      case RowKind.LOG -> foldLog(id, value);
      default -> throw new IllegalStateException("BUG: unknown row kind " + key[0]);
    }
  }

  private void foldLog(int which, byte[] value) {
    if (which == LogRow.CUT) {
      streams.foldCut();
    } else {
      streams.foldPlace(LogRow.decodePlace(value));
    }
  }

  private void foldPublisher(int ref, PublisherRow row) {
    PublisherRow before = publishers.knows(ref) ? publishers.get(ref) : row;
    publishers.fold(ref, row);
    boolean severalGroups = before.hasSeveralGroups() || row.hasSeveralGroups();
    if (severalGroups && before.groups() != row.groups() && !owners.live(ref).isEmpty()) {
      // Whoever writes a new group has no block of it yet: nothing is whole. On a standby the row
      // may come behind such blocks, since compaction leaves it where it was written last.
      owners.live(ref).forEach(residency::hide);
      regrouped.add(ref);
    }
  }

  private void foldOwner(int id, byte @Nullable [] after) {
    owners.fold(id, after == null ? null : OwnerRow.decode(after));
    if (after == null) {
      residency.forget(id);
    }
  }

  /**
   * Follows the change of a residency row, which is written already. One of an owner whose row has
   * not come yet is taken in by {@link #settle}.
   *
   * @param before what it was, null = it was not there
   * @param after what it is, null = deleted
   */
  public void foldBlock(
      int ownerId,
      long engineHash,
      int group,
      @Nullable BlockRow before,
      @Nullable BlockRow after) {
    OwnerState owner = owners.byId(ownerId);
    if (owner != null) {
      residency.fold(owner, engineHash, group, before, after);
    }
  }

  /** Tables and spaces. */
  public Tables tables() {
    return tables;
  }

  /** Names of contexts and adapters. */
  public Names names() {
    return names;
  }

  /** Publishers and their lives. */
  public Publishers publishers() {
    return publishers;
  }

  /** Owners. */
  public Owners owners() {
    return owners;
  }

  /** What is resident. */
  public Residency residency() {
    return residency;
  }

  /** What waits for its prefix. */
  public Orphans orphans() {
    return orphans;
  }

  /** Positions and held-back records. */
  public Streams streams() {
    return streams;
  }

  /** What readers get. */
  public TableView view() {
    return view;
  }
}
