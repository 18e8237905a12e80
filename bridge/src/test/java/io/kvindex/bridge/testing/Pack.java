// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Packs lists, maps, texts, numbers, bytes and null as msgpack, with another library than ours. */
public final class Pack {

  private Pack() {}

  /** A map that may hold nulls: {@code name, value, name, value...}. */
  public static Map<String, @Nullable Object> map(@Nullable Object... members) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) {
      map.put(String.valueOf(members[i]), members[i + 1]);
    }
    return map;
  }

  /** An event as a Mooncake master sends it, legacy names included. */
  /** The clear of one tenant, as masters send it since Mooncake #3818: the envelope alone. */
  public static Map<String, @Nullable Object> masterClear(String tenant) {
    return map(
        "event_id",
        1L,
        "timestamp",
        1_760_000_000_250L,
        "event_type",
        "cleared",
        "type",
        "AllBlocksCleared",
        "model_name",
        null,
        "block_size",
        null,
        "additional_salt",
        null,
        "lora_name",
        null,
        "tenant_id",
        tenant,
        "backend_id",
        "mooncake-master-0",
        "medium",
        null,
        "dp_rank",
        0L);
  }

  public static Map<String, @Nullable Object> masterEvent(
      boolean stored, String key, String medium, String tenant, List<Long> hashes) {
    Map<String, @Nullable Object> event =
        map(
            "event_id",
            1L,
            "timestamp",
            1_760_000_000_250L,
            "event_type",
            stored ? "stored" : "removed",
            "type",
            stored ? "BlockStored" : "BlockRemoved",
            "model_name",
            null,
            "block_size",
            null,
            "additional_salt",
            null,
            "lora_name",
            null,
            "tenant_id",
            tenant,
            "backend_id",
            "mooncake-master-0",
            "group_id",
            null,
            "medium",
            medium,
            "dp_rank",
            null,
            "object_key",
            key,
            "seq_hashes",
            hashes,
            "block_hashes",
            hashes,
            "base_block_idx",
            stored ? 0L : null);
    if (stored) {
      event.put("parent_hash", null);
      event.put("token_ids", null);
      event.put("parent_block_hash", null);
    }
    return event;
  }

  /** The bytes of a value. */
  public static byte[] bytes(@Nullable Object value) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      pack(value, packer);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void pack(@Nullable Object value, MessageBufferPacker packer) throws IOException {
    if (value == null) {
      packer.packNil();
    } else if (value instanceof String text) {
      packer.packString(text);
    } else if (value instanceof Double number) {
      packer.packDouble(number);
    } else if (value instanceof Number number) {
      packer.packLong(number.longValue());
    } else if (value instanceof byte[] bytes) {
      packer.packBinaryHeader(bytes.length).writePayload(bytes);
    } else if (value instanceof Collection<?> list) {
      packer.packArrayHeader(list.size());
      for (Object element : list) {
        pack(element, packer);
      }
    } else if (value instanceof Map<?, ?> map) {
      packer.packMapHeader(map.size());
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        pack(entry.getKey(), packer);
        pack(entry.getValue(), packer);
      }
    } else {
      throw new IllegalArgumentException("no way to pack " + value.getClass());
    }
  }
}
