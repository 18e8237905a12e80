// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.streams.checkpoint.Dictionary;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.row.ContextRow;
import io.kvindex.streams.row.HeldRow;
import io.kvindex.streams.row.LogRow;
import io.kvindex.streams.row.LoraRow;
import io.kvindex.streams.row.Orphan;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.row.TableRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a partition, in memory: its blocks, and the dictionaries, positions and
 * records around them, which are kept as rows too. One writer at a time: the loading thread first,
 * then the thread that owns the task; the read view may be used by any thread.
 */
public final class PartitionTable {

  /** Rows that others refer to, before those. */
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
    RowKind.ORPHAN
  };

  private record Row(Bytes key, byte @Nullable [] value) {}

  private final Blocks blocks;
  private final Tables tables;
  private final Names names = new Names();
  private final Publishers publishers = new Publishers();
  private final Owners owners;
  private final Orphans orphans = new Orphans();
  private final Streams streams = new Streams();
  private final List<Row> last = new ArrayList<>();
  private final TableView view;

  /**
   * @param partition partition of the events topic
   * @param epochs shared by all indexes of the process
   * @param journal takes what changes
   */
  public PartitionTable(int partition, Epochs epochs, Journal journal) {
    blocks = new Blocks(epochs, journal);
    tables = new Tables(blocks);
    owners = new Owners(blocks, publishers);
    view = new TableView(partition, tables, names, streams, orphans);
  }

  /**
   * Changes a row; it counts at once.
   *
   * @param value null deletes
   */
  public void put(Bytes key, byte @Nullable [] value) {
    blocks.journal().put(key, value);
    load(key.get(), value);
  }

  /**
   * Changes a row when the record is dealt with: a position comes last, so that who sees it sees
   * all that the record did.
   *
   * @param value null deletes
   */
  public void putLast(Bytes key, byte @Nullable [] value) {
    last.add(new Row(key, value));
  }

  /** The record is dealt with. */
  public void commit() {
    for (Row row : last) {
      put(row.key(), row.value());
    }
    last.clear();
  }

  /**
   * Takes in a row that was written before, or is about to be. Rows that others refer to come
   * first: tables, spaces, publishers, owners, streams, then the rest.
   *
   * @param value null = deleted
   */
  public void load(byte[] key, byte @Nullable [] value) {
    int id = RowKeys.id(key);
    switch (key[0]) {
      case RowKind.OWNER -> owners.fold(id, value == null ? null : OwnerRow.decode(value));
      case RowKind.ORPHAN -> {
        if (value == null) {
          orphans.remove(id, RowKeys.hash(key), RowKeys.group(key));
        } else {
          orphans.put(Orphan.decode(key, value));
        }
      }
      case RowKind.HELD ->
          streams.foldHeld(
              id,
              RowKeys.hash(key),
              RowKeys.intAfterHash(key),
              value == null ? null : HeldRow.decode(value));
      default -> {
        if (value == null) {
          throw new IllegalArgumentException("rows of kind " + (char) key[0] + " stay");
        }
        loadDictionary(key, id, value);
      }
    }
  }

  /** Takes in the rows of a checkpoint, in whatever order they come. */
  public Dictionary loader() {
    return new Rows();
  }

  private final class Rows implements Dictionary {
    private final Map<Byte, List<Row>> byKind = new HashMap<>();

    @Override
    public void row(byte[] key, byte[] value) {
      byKind
          .computeIfAbsent(key[0], kind -> new ArrayList<>())
          .add(new Row(Bytes.wrap(key), value));
    }

    @Override
    public void end() {
      for (byte kind : LOAD_ORDER) {
        byKind
            .getOrDefault(kind, List.of())
            .forEach(row -> PartitionTable.this.load(row.key().get(), row.value()));
        byKind.remove(kind);
      }
      if (!byKind.isEmpty()) {
        throw new MalformedRecordException("rows of unknown kinds " + byKind.keySet());
      }
    }
  }

  private void loadDictionary(byte[] key, int id, byte[] value) {
    switch (key[0]) {
      case RowKind.TABLE -> tables.foldTable(id, TableRow.decode(value));
      case RowKind.SPACE -> tables.foldSpace(id, SpaceRow.decode(value));
      case RowKind.CONTEXT -> names.foldContext(id, RowKeys.hash(key), ContextRow.decode(value));
      case RowKind.LORA ->
          names.foldLora(
              id, RowKeys.loraId(key), RowKeys.loraInstance(key), LoraRow.decode(value).name());
      case RowKind.PUBLISHER -> loadPublisher(id, PublisherRow.decode(value));
      case RowKind.STREAM -> streams.fold(id, StreamRow.decode(value));
      case RowKind.LOG -> loadLog(id, value);
      default -> throw new IllegalArgumentException("no such kind of row: " + key[0]);
    }
  }

  private void loadLog(int which, byte[] value) {
    if (which == LogRow.CUT) {
      streams.foldCut();
    } else {
      owners.foldHighest(LogRow.decodeOwners(value));
    }
  }

  private void loadPublisher(int ref, PublisherRow row) {
    long before = publishers.knows(ref) ? publishers.get(ref).groups() : 0;
    publishers.fold(ref, row);
    if (row.groups() != before) {
      owners.regroup(ref, before, row.groups());
    }
  }

  /** Adds a block whose prefix is not known, or what has changed of it. */
  public void putOrphan(Orphan orphan) {
    put(orphan.key(), orphan.encode());
  }

  /** The block waits no more. */
  public void removeOrphan(Orphan orphan) {
    put(orphan.key(), null);
  }

  /** What hashes mean and who holds what. */
  public Blocks blocks() {
    return blocks;
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
