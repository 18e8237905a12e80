// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Bytes;

/** Builds and reads the keys of {@link RowKind}. */
public final class RowKeys {

  private static final int ID_AT = 1;
  private static final int HASH_AT = ID_AT + Integer.BYTES;
  private static final int AFTER_HASH = HASH_AT + Long.BYTES;

  /** In place of an adapter's number beyond 32 bits, which follows; no adapter has it. */
  private static final int WIDE_LORA = -1;

  private RowKeys() {}

  /** Key of a dictionary row: kind and id. Also the start of all rows of that kind and id. */
  public static Bytes ofId(byte kind, int id) {
    return Bytes.wrap(ByteBuffer.allocate(HASH_AT).put(kind).putInt(id).array());
  }

  /** Key of a context row. */
  public static Bytes ofHash(byte kind, int id, long hash) {
    return Bytes.wrap(ByteBuffer.allocate(AFTER_HASH).put(kind).putInt(id).putLong(hash).array());
  }

  /** Key of an orphan row. */
  public static Bytes orphan(int ownerId, long hash, int group) {
    return Bytes.wrap(
        ByteBuffer.allocate(AFTER_HASH + 1)
            .put(RowKind.ORPHAN)
            .putInt(ownerId)
            .putLong(hash)
            .put((byte) group)
            .array());
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

  /** Part of a held-back record. */
  public static int intAfterHash(byte[] key) {
    return ByteBuffer.wrap(key).getInt(AFTER_HASH);
  }

  /** Attention group of an orphan row. */
  public static int group(byte[] key) {
    return key[AFTER_HASH];
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
