// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Bytes;

/** Builds and reads the keys of {@link RowKind}. */
public final class RowKeys {

  private static final int ID_AT = 1;
  private static final int HASH_AT = ID_AT + Integer.BYTES;
  private static final int AFTER_HASH = HASH_AT + Long.BYTES;

  /** A varint below this is the byte itself. */
  private static final int ONE_BYTE = 0x80;

  /** In place of an adapter's number beyond 32 bits, which follows; no adapter has it. */
  private static final int WIDE_LORA = -1;

  private RowKeys() {}

  /** Key of a dictionary row: kind and id. Also the start of all rows of that kind and id. */
  public static Bytes ofId(byte kind, int id) {
    return Bytes.wrap(ByteBuffer.allocate(HASH_AT).put(kind).putInt(id).array());
  }

  /** First key of a kind; {@code kind + 1} is the end of the range. */
  public static Bytes first(int kind) {
    return Bytes.wrap(new byte[] {(byte) kind});
  }

  /** Key of a context or content row. */
  public static Bytes ofHash(byte kind, int id, long hash) {
    return Bytes.wrap(ByteBuffer.allocate(AFTER_HASH).put(kind).putInt(id).putLong(hash).array());
  }

  /** Key of a residency row. */
  public static Bytes block(int ownerId, long engineHash, int group) {
    if (group < ONE_BYTE) { // nearly all: there is one such key for each block
      return Bytes.wrap(
          ByteBuffer.allocate(AFTER_HASH + 1)
              .put(RowKind.BLOCK)
              .putInt(ownerId)
              .putLong(engineHash)
              .put((byte) group)
              .array());
    }
    RecordWriter out = new RecordWriter(AFTER_HASH + 2);
    out.writeBytes(ofHash(RowKind.BLOCK, ownerId, engineHash).get());
    out.writeVarint(group);
    return Bytes.wrap(out.toByteArray());
  }

  /** Key of an orphan row. */
  public static Bytes orphan(int space, long child, int ownerId, int group) {
    RecordWriter out = new RecordWriter(AFTER_HASH + Integer.BYTES + 2);
    out.writeBytes(ofHash(RowKind.ORPHAN, space, child).get());
    out.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(ownerId).array());
    out.writeVarint(group);
    return Bytes.wrap(out.toByteArray());
  }

  /** Key of a held-back record; sorts by position within a stream. */
  public static Bytes held(int streamRef, long eventId, int part) {
    return Bytes.wrap(
        ByteBuffer.allocate(AFTER_HASH + Integer.BYTES)
            .put(RowKind.HELD)
            .putInt(streamRef)
            .putLong(eventId)
            .putInt(part)
            .array());
  }

  /** Key of an adapter's name. */
  public static Bytes lora(int tableRef, long loraId, String instanceId) {
    byte[] instance = instanceId.getBytes(StandardCharsets.UTF_8);
    boolean wide = loraId != (int) loraId || loraId == WIDE_LORA;
    ByteBuffer key =
        ByteBuffer.allocate(HASH_AT + loraBytes(wide) + instance.length)
            .put(RowKind.LORA)
            .putInt(tableRef)
            .putInt(wide ? WIDE_LORA : (int) loraId);
    if (wide) {
      key.putLong(loraId);
    }
    return Bytes.wrap(key.put(instance).array());
  }

  private static int loraBytes(boolean wide) {
    return wide ? Integer.BYTES + Long.BYTES : Integer.BYTES;
  }

  private static boolean isWideLora(byte[] key) {
    return ByteBuffer.wrap(key).getInt(HASH_AT) == WIDE_LORA;
  }

  /** The id after the kind. */
  public static int id(byte[] key) {
    return ByteBuffer.wrap(key).getInt(ID_AT);
  }

  /** The hash, event id or the like after the id. */
  public static long hash(byte[] key) {
    return ByteBuffer.wrap(key).getLong(HASH_AT);
  }

  /** Owner of an orphan row, part of a held-back record. */
  public static int intAfterHash(byte[] key) {
    return ByteBuffer.wrap(key).getInt(AFTER_HASH);
  }

  /** Attention group of a residency row. */
  public static int blockGroup(byte[] key) {
    return new RecordReader(key, AFTER_HASH).readInt();
  }

  /** Attention group of an orphan row. */
  public static int orphanGroup(byte[] key) {
    return new RecordReader(key, AFTER_HASH + Integer.BYTES).readInt();
  }

  /** Number of an adapter. */
  public static long loraId(byte[] key) {
    ByteBuffer row = ByteBuffer.wrap(key);
    return isWideLora(key) ? row.getLong(HASH_AT + Integer.BYTES) : row.getInt(HASH_AT);
  }

  /** Instance that uses an adapter's number. */
  public static String loraInstance(byte[] key) {
    int at = HASH_AT + loraBytes(isWideLora(key));
    return new String(key, at, key.length - at, StandardCharsets.UTF_8);
  }
}
