// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

  private static final int ID_AT = 1;
  private static final int HASH_AT = ID_AT + Integer.BYTES;
  private static final int AFTER_HASH = HASH_AT + Long.BYTES;

  /** In place of an adapter's number beyond 32 bits, which follows; no adapter has it. */
  private static final int WIDE_LORA = -1;

  private Rows() {}

  private static ByteBuffer start(byte kind, int id, int more) {
    return ByteBuffer.allocate(HASH_AT + more).put(kind).putInt(id);
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
  static Bytes held(int streamRef, long eventId, int part) {
    ByteBuffer key = start(HELD, streamRef, Long.BYTES + Integer.BYTES);
    return Bytes.wrap(key.putLong(eventId).putInt(part).array());
  }

  static Bytes lora(int tableRef, long loraId, String instanceId) {
    byte[] instance = instanceId.getBytes(StandardCharsets.UTF_8);
    boolean wide = loraId != (int) loraId || loraId == WIDE_LORA;
    ByteBuffer key = start(LORA, tableRef, loraBytes(wide) + instance.length);
    key.putInt(wide ? WIDE_LORA : (int) loraId);
    if (wide) {
      key.putLong(loraId);
    }
    return Bytes.wrap(key.put(instance).array());
  }

  private static int loraBytes(boolean wide) {
    return wide ? Integer.BYTES + Long.BYTES : Integer.BYTES;
  }

  /** The id after the kind. */
  public static int id(byte[] key) {
    return ByteBuffer.wrap(key).getInt(ID_AT);
  }

  /** The hash, event id or the like after the id. */
  static long hash(byte[] key) {
    return ByteBuffer.wrap(key).getLong(HASH_AT);
  }

  /** Part of a held-back record. */
  static int part(byte[] key) {
    return ByteBuffer.wrap(key).getInt(AFTER_HASH);
  }

  /** Attention group of an orphan. */
  static int group(byte[] key) {
    return key[AFTER_HASH];
  }

  private static boolean isWideLora(byte[] key) {
    return ByteBuffer.wrap(key).getInt(HASH_AT) == WIDE_LORA;
  }

  static long loraId(byte[] key) {
    ByteBuffer row = ByteBuffer.wrap(key);
    return isWideLora(key) ? row.getLong(HASH_AT + Integer.BYTES) : row.getInt(HASH_AT);
  }

  /** Instance that uses an adapter's number. */
  static String loraInstance(byte[] key) {
    int at = HASH_AT + loraBytes(isWideLora(key));
    return new String(key, at, key.length - at, StandardCharsets.UTF_8);
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
