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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
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

  /** Kinds of rows, those that others refer to before those. */
  private static final String LOAD_ORDER = "TNCLPOXSHU";

  /** Some 30 MiB while a dump runs. */
  private static final int DUMPED_AT_ONCE = 1 << 19;

  private final int partition;
  private final Blocks blocks;
  private final Map<TableId, PrefixIndex> indexes = new ConcurrentHashMap<>();
  private final Numbered<TableId, TableId> tables = new Numbered<>("table");
  private final Numbered<SpaceRow, SpaceRow> spaces = new Numbered<>("space");
  private final Numbered<PublisherId, Publisher> publishers = new Numbered<>("publisher");
  private final Map<TableId, Names> names = new ConcurrentHashMap<>();
  private final Owners owners;
  private final Orphans waiting = new Orphans();
  private final Streams streams = new Streams();

  /** A position comes last, so that who sees it sees all that the record did. */
  private final List<Runnable> last = new ArrayList<>();

  private boolean isCut;
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

  /** Adds a row of a dictionary, or changes it; it counts at once. */
  private void put(Bytes key, RecordWriter value) {
    byte[] row = value.toByteArray();
    blocks.journal().put(key, row);
    load(key.get(), row);
  }

  /** Adds a block whose prefix is not known, or what has changed of it. */
  public void put(Orphan orphan) {
    blocks.journal().put(orphan.key(), orphan.encode());
    waiting.put(orphan);
  }

  /** The block waits no more. */
  public void remove(Orphan orphan) {
    blocks.journal().put(orphan.key(), null);
    waiting.remove(orphan);
  }

  /** Names of a context were told. */
  public void put(int tableRef, ContextNames context) {
    RecordWriter out = Rows.writer(32);
    out.writeString(context.loraName());
    out.writeString(context.namespace());
    out.writeString(context.salt());
    put(Rows.context(tableRef, context.hash()), out);
  }

  /** An instance's events told the name of an adapter it has a number for. */
  public void put(int tableRef, Names.Adapter adapter, String name) {
    RecordWriter out = Rows.writer(32);
    out.writeString(name);
    put(Rows.adapter(tableRef, adapter), out);
  }

  /**
   * Records of the log were gone before they could be read: whoever goes on has to know as well.
   */
  public void putCut() {
    if (!isCut) {
      put(Rows.key(Rows.LOG, Rows.CUT), Rows.writer(1));
    }
  }

  /**
   * Where a stream is, when the record is dealt with. Nearly every record moves one: its row is
   * encoded once a checkpoint, and not read back.
   */
  public void putLast(StreamId id, StreamPosition at) {
    last.add(
        () -> {
          StreamState stream = streams.move(id, at);
          blocks.journal().putLater(stream.key(), () -> StreamState.encode(id, at));
        });
  }

  /**
   * A record is held back, when the one at hand is dealt with.
   *
   * @param row null = it is no more
   */
  public void putLast(StreamId id, Position place, @Nullable HeldRow row) {
    last.add(
        () -> {
          StreamState stream = Objects.requireNonNull(streams.get(id));
          Bytes key = Rows.held(stream.ref(), place);
          blocks.journal().put(key, row == null ? null : row.encode());
          streams.hold(stream, place, row);
        });
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
    int ref = tables.next();
    RecordWriter out = Rows.writer(64);
    EventRecordCodec.writeTable(out, table);
    put(Rows.key(Rows.TABLE, ref), out);
    return ref;
  }

  /** Number of a space; one that has none yet gets one. */
  public int refOf(SpaceRow space) {
    Integer known = spaces.ref(space);
    if (known != null) {
      return known;
    }
    int ref = spaces.next();
    put(Rows.key(Rows.SPACE, ref), space.encode());
    return ref;
  }

  /**
   * A publisher; one that is not known yet becomes so.
   *
   * @param life that it is in then
   */
  public Publisher publisher(PublisherId id, Incarnation life) {
    Publisher known = publishers.find(id);
    if (known != null) {
      return known;
    }
    Publisher first = new Publisher(blocks, publishers.next(), id, life);
    publishers.add(first.ref(), id, first);
    first.save();
    return first;
  }

  // ------------------------------------------------------------------- loading

  /** Takes in the rows of a checkpoint. */
  public void load(SortedMap<Bytes, byte[]> rows) {
    rows.entrySet().stream()
        .sorted(Comparator.comparingInt(row -> LOAD_ORDER.indexOf(row.getKey().get()[0])))
        .forEach(row -> load(row.getKey().get(), row.getValue()));
  }

  /** Takes in a row that was written before, or is about to be. */
  private void load(byte[] key, byte[] value) {
    ByteBuffer of = ByteBuffer.wrap(key);
    byte kind = of.get();
    int id = of.getInt();
    switch (kind) {
      case Rows.TABLE -> {
        TableId table = EventRecordCodec.readTable(Rows.reader(value));
        tables.add(id, table, table);
        names.put(table, new Names());
        indexes.put(table, blocks.addTable(id));
      }
      case Rows.SPACE -> loadSpace(id, SpaceRow.decode(value));
      case Rows.CONTEXT -> {
        RecordReader in = Rows.reader(value);
        long hash = of.getLong();
        names(id)
            .contexts()
            .put(hash, new ContextNames(hash, in.readString(), in.readString(), in.readString()));
      }
      case Rows.LORA ->
          names(id).adapters().put(Rows.adapter(of), Rows.reader(value).readRequiredString());
      case Rows.PUBLISHER -> {
        Publisher publisher = Publisher.decode(blocks, id, value);
        publishers.add(id, publisher.id(), publisher);
      }
      case Rows.OWNER -> owners.load(id, value);
      case Rows.LOG -> {
        if (id == Rows.CUT) {
          isCut = true;
        } else {
          owners.loadHighest(value);
        }
      }
      case Rows.STREAM -> streams.load(id, value);
      case Rows.HELD -> streams.loadHeld(id, new Position(of.getLong(), of.getInt(), false), value);
      case Rows.ORPHAN -> waiting.put(Orphan.decode(key, value));
      default -> throw new MalformedRecordException("a row of unknown kind " + kind);
    }
  }

  private void loadSpace(int ref, SpaceRow row) {
    spaces.add(ref, row, row);
    HashProfile profile = tables.get(row.tableRef()).hashProfile();
    // Names alone do not say which adapter they are of where they do not cover it.
    boolean byName = profile.algorithm().isEngineNamed() && profile.algorithm().coversLora();
    blocks.addSpace(ref, row.tableRef(), byName, profile.context(null, row.namespace(), null));
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
  public Numbered<PublisherId, Publisher> publishers() {
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

  /**
   * Whether records of the log were gone before they could be read: what streams said in them that
   * have not been heard since is not known.
   */
  public boolean isCut() {
    return isCut;
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
