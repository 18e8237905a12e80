// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.packed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;

/** Packs what a test says and shows what it gets as JSON text. */
public final class Packed {
  private Packed() {}

  /** A map from names and values in turn; a name may come twice. */
  public static byte[] map(@Nullable Object... members) {
    return pack(
        packer -> {
          packer.packMapHeader(members.length / 2);
          for (Object member : members) {
            put(packer, member);
          }
        });
  }

  /** The same as a map that can be changed. */
  public static Map<String, @Nullable Object> members(@Nullable Object... members) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) {
      map.put((String) members[i], members[i + 1]);
    }
    return map;
  }

  /** Lists, maps, texts, numbers, truth values, bytes and null. */
  public static byte[] of(@Nullable Object value) {
    return pack(packer -> put(packer, value));
  }

  /** As JSON text; names in the order they came. */
  public static String json(byte[] packed) {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(packed)) {
      Value value = unpacker.unpackValue();
      if (unpacker.hasNext()) {
        throw new AssertionError("more than one value");
      }
      return value.toJson();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private interface Packing {
    void into(MessagePacker packer) throws IOException;
  }

  private static byte[] pack(Packing packing) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packing.into(packer);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void put(MessagePacker packer, @Nullable Object value) throws IOException {
    if (value == null) {
      packer.packNil();
    } else if (value instanceof String text) {
      packer.packString(text);
    } else if (value instanceof Boolean truth) {
      packer.packBoolean(truth);
    } else if (value instanceof Double number) {
      packer.packDouble(number);
    } else if (value instanceof java.math.BigInteger number) {
      packer.packBigInteger(number);
    } else if (value instanceof Number number) {
      packer.packLong(number.longValue());
    } else if (value instanceof byte[] bytes) {
      packer.packBinaryHeader(bytes.length);
      packer.writePayload(bytes);
    } else if (value instanceof int[] ints) {
      packer.packArrayHeader(ints.length);
      for (int one : ints) {
        packer.packInt(one);
      }
    } else if (value instanceof Collection<?> list) {
      packer.packArrayHeader(list.size());
      for (Object element : list) {
        put(packer, element);
      }
    } else {
      putMap(packer, (Map<?, ?>) value);
    }
  }

  private static void putMap(MessagePacker packer, Map<?, ?> map) throws IOException {
    packer.packMapHeader(map.size());
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      put(packer, entry.getKey());
      put(packer, entry.getValue());
    }
  }
}
