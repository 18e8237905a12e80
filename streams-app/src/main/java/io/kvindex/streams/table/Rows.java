// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.streams.table.Names.Adapter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.utils.Bytes;

/**
 * What rows look like. The first byte of a key says what the row is. Ids are 4 bytes and hashes 8
 * bytes big-endian, so that rows of one owner or space lie together.
 *
 * <pre>
 * T tableRef                          table identity
 * N space                             table, namespace and, where publishers disagree, publisher
 * C tableRef contextHash              adapter, namespace and salt behind a context hash
 * L tableRef loraId instance          name of an adapter known by its number (beyond 32 bits: -1 and 8 bytes)
 * P publisherRef                      publisher: identity, life, clears, attention groups
 * O ownerId                           owner: whose cache on which medium in which life
 * S streamRef                         stream: position, health
 * H streamRef event_id part           record held back until its predecessor arrives
 * U ownerId engineHash group          orphan: a resident block whose prefix is not known yet
 * X 0                                 cut: records were gone before they could be read
 * X 1                                 the highest number an owner ever had
 * </pre>
 *
 * <p>Each value begins with a version, so that an older program refuses newer rows.
 */
public final class Rows {

  public static final byte TABLE = 'T';
  public static final byte SPACE = 'N';
  public static final byte CONTEXT = 'C';
  public static final byte LORA = 'L';
  public static final byte PUBLISHER = 'P';
  public static final byte OWNER = 'O';
  public static final byte STREAM = 'S';
  public static final byte HELD = 'H';
  public static final byte ORPHAN = 'U';
  public static final byte LOG = 'X';

  /** Of {@link #LOG}: records of the log were gone before they could be read. */
  public static final int CUT = 0;

  /** Of {@link #LOG}: the highest number an owner ever had; none is given twice. */
  static final int OWNERS = 1;

  /** To be raised where rows of before can not be gone on with. */
  private static final int VERSION = 2;

  /** In place of an adapter's number beyond 32 bits, which follows; no adapter has it. */
  private static final int WIDE_LORA = -1;

  private Rows() {}

  private static ByteBuffer start(byte kind, int id, int more) {
    return ByteBuffer.allocate(1 + Integer.BYTES + more).put(kind).putInt(id);
  }

  /** Key of a dictionary row: kind and id. */
  public static Bytes key(byte kind, int id) {
    return Bytes.wrap(start(kind, id, 0).array());
  }

  static Bytes context(int tableRef, long hash) {
    return Bytes.wrap(start(CONTEXT, tableRef, Long.BYTES).putLong(hash).array());
  }

  static Bytes orphan(int ownerId, long hash, int group) {
    ByteBuffer key = start(ORPHAN, ownerId, Long.BYTES + 1).putLong(hash).put((byte) group);
    return Bytes.wrap(key.array());
  }

  /** Sorts by position within a stream. */
  static Bytes held(int streamRef, Position place) {
    ByteBuffer key = start(HELD, streamRef, Long.BYTES + Integer.BYTES);
    return Bytes.wrap(key.putLong(place.eventId()).putInt(place.part()).array());
  }

  static Bytes adapter(int tableRef, Adapter adapter) {
    long id = adapter.loraId();
    byte[] instance = adapter.instanceId().getBytes(StandardCharsets.UTF_8);
    ByteBuffer key = start(LORA, tableRef, Integer.BYTES + Long.BYTES + instance.length);
    if (id == (int) id && id != WIDE_LORA) {
      key.putInt((int) id);
    } else {
      key.putInt(WIDE_LORA).putLong(id);
    }
    key.put(instance);
    return Bytes.wrap(Arrays.copyOf(key.array(), key.position()));
  }

  /** Reads an adapter's key on behind the table. */
  static Adapter adapter(ByteBuffer key) {
    int narrow = key.getInt();
    long id = narrow == WIDE_LORA ? key.getLong() : narrow;
    return new Adapter(id, StandardCharsets.UTF_8.decode(key).toString());
  }

  /** Begins a value. */
  static RecordWriter writer(int capacity) {
    RecordWriter out = new RecordWriter(capacity);
    out.writeByte(VERSION);
    return out;
  }

  /** Reads a value. */
  static RecordReader reader(byte[] value) {
    RecordReader in = new RecordReader(value);
    int version = in.readByte();
    if (version != VERSION) {
      throw new MalformedRecordException(
          "row version " + version + " is not known here: written by a newer kvindex?");
    }
    return in;
  }

  static Incarnation readIncarnation(RecordReader in) {
    return new Incarnation(in.readZigZag(), in.readZigZag(), in.readZigZag());
  }
}
