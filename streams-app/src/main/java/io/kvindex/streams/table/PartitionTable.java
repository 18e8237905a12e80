// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.Dictionary;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
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
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a partition, in memory: its blocks, and the dictionaries, positions and
 * records around them, which are kept as rows too. One writer at a time: the loading thread first,
 * then the thread that owns the task. What readers see of it, {@link PartitionView}, may be used by
 * any thread.
 */
public final class PartitionTable implements PartitionView {

  /** Rows that others refer to, before those. */
  private static final byte[] LOAD_ORDER = {
    Rows.TABLE, Rows.SPACE, Rows.CONTEXT, Rows.LORA, Rows.PUBLISHER,
    Rows.OWNER, Rows.LOG, Rows.STREAM, Rows.HELD, Rows.ORPHAN
  };

  /** Some 30 MiB while a dump runs. */
  private static final int DUMPED_AT_ONCE = 1 << 19;

  private record Row(Bytes key, byte @Nullable [] value) {}

  private final int partition;
  private final Blocks blocks;
  private final Map<TableId, PrefixIndex> indexes = new ConcurrentHashMap<>();
  private final Numbered<TableId, TableId> tables = new Numbered<>("table");
  private final Numbered<SpaceRow, SpaceRow> spaces = new Numbered<>("space");
  private final Numbered<PublisherId, PublisherRow> publishers = new Numbered<>("publisher");
  private final Map<TableId, Names> names = new ConcurrentHashMap<>();
  private final Owners owners;
  private final Orphans waiting = new Orphans();
  private final Streams streams = new Streams();

  /** A position comes last, so that who sees it sees all that the record did. */
  private final List<Runnable> last = new ArrayList<>();

  private volatile @Nullable Stored stored;
  private volatile boolean closed;
  private volatile long since;

  /**
   * @param partition partition of the events topic
   * @param epochs shared by all indexes of the process
   * @param journal takes what changes
   */
  public PartitionTable(int partition, Epochs epochs, Journal journal) {
    this.partition = partition;
    blocks = new Blocks(epochs, journal);
    owners = new Owners(blocks, publishers);
  }

  // ------------------------------------------------------------------- rows

  /**
   * Changes a row; it counts at once.
   *
   * @param value null deletes
   */
  private void put(Bytes key, byte @Nullable [] value) {
    blocks.journal().put(key, value);
    load(key.get(), value);
  }

  private int give(byte kind, int id, byte[] value) {
    put(Rows.key(kind, id), value);
    return id;
  }

  /** What is known of a publisher changes. */
  public void put(int publisherRef, PublisherRow row) {
    put(Rows.key(Rows.PUBLISHER, publisherRef), row.encode());
  }

  /** What is known of an owner changes. */
  public void put(int ownerId, OwnerRow row) {
    put(Rows.key(Rows.OWNER, ownerId), row.encode());
  }

  /** There is one owner more. */
  public OwnerState add(OwnerRow row) {
    int id = owners.next();
    RecordWriter highest = Rows.writer(6);
    highest.writeVarint(id);
    give(Rows.LOG, Rows.OWNERS, highest.toByteArray());
    put(id, row);
    return Objects.requireNonNull(owners.byId(id));
  }

  /** Takes out some of what the dead have held, and those of whom nothing is left. */
  public void sweep() {
    blocks.sweep(holder -> put(Rows.key(Rows.OWNER, holder.id()), null));
  }

  /** Adds a block whose prefix is not known, or what has changed of it. */
  public void put(Orphan orphan) {
    put(orphan.key(), orphan.encode());
  }

  /** The block waits no more. */
  public void remove(Orphan orphan) {
    put(orphan.key(), null);
  }

  /** Names of a context were told. */
  public void put(int tableRef, ContextNames context) {
    RecordWriter out = Rows.writer(32);
    out.writeString(context.loraName());
    out.writeString(context.namespace());
    out.writeString(context.salt());
    put(Rows.context(tableRef, context.hash()), out.toByteArray());
  }

  /** An instance's events told the name of an adapter it has a number for. */
  public void put(int tableRef, Names.Adapter adapter, String name) {
    RecordWriter out = Rows.writer(32);
    out.writeString(name);
    put(Rows.lora(tableRef, adapter.loraId(), adapter.instanceId()), out.toByteArray());
  }

  /**
   * Records of the log were gone before they could be read: whoever goes on has to know as well.
   */
  public void putCut() {
    if (!streams.isCut()) {
      give(Rows.LOG, Rows.CUT, Rows.writer(1).toByteArray());
    }
  }

  /** Where a stream is, when the record is dealt with. */
  public void putLast(int streamRef, StreamRow row) {
    last.add(() -> put(streamRef, row));
  }

  /**
   * Nearly every record moves a stream: its row is encoded once a checkpoint, and not read back.
   */
  private void put(int streamRef, StreamRow row) {
    blocks.journal().putLater(streams.key(streamRef), row::encode);
    streams.fold(streamRef, row);
  }

  /**
   * A record is held back, when the one at hand is dealt with.
   *
   * @param row null = it is no more
   */
  public void putLast(int streamRef, Position place, @Nullable HeldRow row) {
    byte @Nullable [] value = row == null ? null : row.encode();
    last.add(() -> put(Rows.held(streamRef, place.eventId(), place.part()), value));
  }

  /** The record is dealt with. */
  public void commit() {
    last.forEach(Runnable::run);
    last.clear();
  }

  /** Number of a table; one that has none yet gets one. */
  public int refOf(TableId table) {
    Integer known = tables.ref(table);
    if (known != null) {
      return known;
    }
    RecordWriter out = Rows.writer(64);
    EventRecordCodec.writeTable(out, table);
    return give(Rows.TABLE, tables.next(), out.toByteArray());
  }

  /** Number of a space; one that has none yet gets one. */
  public int refOf(SpaceRow space) {
    Integer known = spaces.ref(space);
    return known != null ? known : give(Rows.SPACE, spaces.next(), space.encode());
  }

  /**
   * Number of a publisher; one that has none yet gets one.
   *
   * @param life that it is in then
   */
  public int refOf(PublisherId publisher, Incarnation life) {
    Integer known = publishers.ref(publisher);
    return known != null
        ? known
        : give(Rows.PUBLISHER, publishers.next(), PublisherRow.first(publisher, life).encode());
  }

  // ------------------------------------------------------------------- loading

  /** Takes in the rows of a checkpoint, in whatever order they come. */
  public Dictionary loader() {
    Map<Byte, List<Row>> byKind = new HashMap<>();
    return new Dictionary() {
      @Override
      public void row(byte[] key, byte[] value) {
        byKind
            .computeIfAbsent(key[0], kind -> new ArrayList<>())
            .add(new Row(Bytes.wrap(key), value));
      }

      @Override
      public void end() {
        for (byte kind : LOAD_ORDER) {
          byKind.getOrDefault(kind, List.of()).forEach(row -> load(row.key().get(), row.value()));
          byKind.remove(kind);
        }
        if (!byKind.isEmpty()) {
          throw new MalformedRecordException("rows of unknown kinds " + byKind.keySet());
        }
      }
    };
  }

  /** Takes in a row that was written before, or is about to be; null = deleted. */
  private void load(byte[] key, byte @Nullable [] value) {
    int id = Rows.id(key);
    switch (key[0]) {
      case Rows.OWNER -> owners.fold(id, value == null ? null : OwnerRow.decode(value, publishers));
      case Rows.ORPHAN -> {
        if (value == null) {
          waiting.remove(id, Rows.hash(key), Rows.group(key));
        } else {
          waiting.put(Orphan.decode(key, value));
        }
      }
      case Rows.HELD ->
          streams.foldHeld(
              id,
              new Position(Rows.hash(key), Rows.part(key), false),
              value == null ? null : HeldRow.decode(value));
      default -> {
        if (value == null) {
          throw new IllegalArgumentException("rows of kind " + (char) key[0] + " stay");
        }
        loadDictionary(key, id, value);
      }
    }
  }

  private void loadDictionary(byte[] key, int id, byte[] value) {
    switch (key[0]) {
      case Rows.TABLE -> {
        TableId table = decodeTable(value);
        tables.put(id, table, table);
        names.put(table, new Names());
        indexes.put(table, blocks.addTable(id));
      }
      case Rows.SPACE -> loadSpace(id, SpaceRow.decode(value));
      case Rows.CONTEXT -> {
        RecordReader in = Rows.reader(value);
        long hash = Rows.hash(key);
        names(id)
            .contexts()
            .put(hash, new ContextNames(hash, in.readString(), in.readString(), in.readString()));
      }
      case Rows.LORA ->
          names(id)
              .adapters()
              .put(
                  new Names.Adapter(Rows.loraId(key), Rows.loraInstance(key)),
                  Rows.reader(value).readRequiredString());
      case Rows.PUBLISHER -> loadPublisher(id, PublisherRow.decode(value));
      case Rows.STREAM -> streams.fold(id, StreamRow.decode(value));
      case Rows.LOG -> {
        if (id == Rows.CUT) {
          streams.foldCut();
        } else {
          owners.foldHighest(Rows.reader(value).readInt());
        }
      }
      default -> throw new IllegalArgumentException("no such kind of row: " + key[0]);
    }
  }

  static TableId decodeTable(byte[] value) {
    return EventRecordCodec.readTable(Rows.reader(value));
  }

  private void loadSpace(int ref, SpaceRow row) {
    spaces.put(ref, row, row);
    HashProfile profile = tables.get(row.tableRef()).hashProfile();
    // Names alone do not say which adapter they are of where they do not cover it.
    boolean byName = profile.algorithm().isEngineNamed() && profile.algorithm().coversLora();
    blocks.addSpace(ref, row.tableRef(), byName, profile.context(null, row.namespace(), null));
  }

  private void loadPublisher(int ref, PublisherRow row) {
    PublisherRow known = publishers.find(ref);
    long before = known == null ? 0 : known.groups();
    publishers.put(ref, row.publisher(), row);
    if (row.groups() != before) {
      owners.regroup(ref, before, row.groups());
    }
  }

  // ------------------------------------------------------------------- for the writer

  /** What hashes mean and who holds what. */
  public Blocks blocks() {
    return blocks;
  }

  /** The table of a number found in a row. */
  TableId tableId(int ref) {
    return tables.get(ref);
  }

  /** Spaces, by what they are for. */
  public Numbered<SpaceRow, SpaceRow> spaces() {
    return spaces;
  }

  /** Publishers and their lives. */
  public Numbered<PublisherId, PublisherRow> publishers() {
    return publishers;
  }

  /** Names of a table's contexts and adapters. */
  public Names names(int tableRef) {
    return Objects.requireNonNull(names.get(tableId(tableRef)));
  }

  /** Owners. */
  public Owners owners() {
    return owners;
  }

  /** What waits for its prefix. */
  public Orphans waiting() {
    return waiting;
  }

  /** Positions and held-back records. */
  public Streams streams() {
    return streams;
  }

  /** Reads the rows of a table as they are at one moment. */
  public interface Stored {
    /**
     * Returns what was found; null = there is nothing yet.
     *
     * @throws DumpFailedException if they can not be read
     */
    <T> @Nullable T read(Checkpoint.Reading<T> reading) throws DumpFailedException;
  }

  /** From where dumps and digests are read. Before readers get the table. */
  public void readsFrom(Stored source) {
    stored = source;
  }

  /** It was folded from that offset on. */
  public void foldedSince(long offset) {
    since = offset;
  }

  /** Nothing will change any more, or what changes is not to be trusted. For good. */
  public void close() {
    closed = true;
  }

  // ------------------------------------------------------------------- for readers

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
    return Collections.unmodifiableMap(indexes);
  }

  @Override
  public Collection<ContextNames> contexts(TableId table) {
    Names of = names.get(table);
    return of == null ? List.of() : Collections.unmodifiableCollection(of.contexts().values());
  }

  @Override
  public @Nullable String loraName(TableId table, String instanceId, long loraId) {
    Names of = names.get(table);
    return of == null ? null : of.adapters().get(new Names.Adapter(loraId, instanceId));
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
    return waiting.size();
  }

  @Override
  public long since() {
    return since;
  }

  @Override
  public long appliedOffset() {
    return streams.appliedOffset();
  }

  private <T> @Nullable T read(Checkpoint.Reading<T> reading) throws DumpFailedException {
    Stored from = stored;
    if (from == null) {
      throw new DumpFailedException("the table has no rows on a disk");
    }
    return from.read(reading);
  }

  @Override
  public void dump(TableId table, LongPredicate wanted, DumpVisitor visitor)
      throws IOException, DumpFailedException {
    try {
      read(
          rows -> {
            new TableDump(rows, DUMPED_AT_ONCE, wanted, visitor).run(table);
            return rows;
          });
    } catch (UncheckedIOException e) {
      throw e.getCause();
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
