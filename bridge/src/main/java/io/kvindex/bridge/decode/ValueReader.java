// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.model.event.Hashes;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the values events are made of. All methods expect a structurally sound value at the cursor
 * and throw {@link MalformedEvent} if it is of another type.
 */
final class ValueReader {

  /**
   * Longest name, salt or key. Each goes into a Kafka record whole, and one the broker refuses
   * would be sent again for ever.
   */
  static final int MAX_TEXT_BYTES = 4_096;

  /** Longest name of a group's kind; those of all groups of a publisher go into one record. */
  static final int MAX_KIND_BYTES = 256;

  /** Names that come with every event, so that they cost no string each. */
  private static final NameTable<String> COMMON =
      new NameTable<>(
          Stream.of(
                  "GPU",
                  "gpu",
                  "CPU",
                  "cpu",
                  "CPU_PINNED",
                  "DISK",
                  "disk",
                  "STORAGE",
                  "EXTERNAL",
                  "LOCAL",
                  "REMOTE",
                  "full_attention",
                  "mla_attention",
                  "sink_full_attention",
                  "sliding_window",
                  "mamba")
              .collect(Collectors.toMap(name -> name, name -> name)));

  private ValueReader() {}

  /**
   * A string or nil.
   *
   * @throws MalformedEvent if it is longer than any name is, see {@link #MAX_TEXT_BYTES}
   */
  static @Nullable String readText(MsgPackCursor cursor) {
    return readText(cursor, MAX_TEXT_BYTES);
  }

  /** The same with a bound of its own, in bytes of UTF-8. */
  static @Nullable String readText(MsgPackCursor cursor, int maxBytes) {
    MsgPackType type = cursor.peek();
    if (type == MsgPackType.NIL) {
      return null;
    } else if (type != MsgPackType.STR) {
      throw new MalformedEvent();
    }
    int length = cursor.readRawHeader();
    if (length > maxBytes) {
      throw new MalformedEvent(SkipReason.NAME_TOO_LONG);
    }
    int from = cursor.position();
    cursor.seek(from + length);
    String common = COMMON.find(cursor.bytes(), from, length);
    return common != null ? common : utf8(cursor.bytes(), from, length);
  }

  private static String utf8(byte[] bytes, int from, int length) {
    for (int i = from; i < from + length; i++) {
      if (bytes[i] < 0) {
        return strictUtf8(bytes, from, length);
      }
    }
    return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
  }

  /** Two different broken strings must not become one name, so broken ones are refused. */
  private static String strictUtf8(byte[] bytes, int from, int length) {
    try {
      ByteBuffer raw = ByteBuffer.wrap(bytes, from, length);
      return StandardCharsets.UTF_8.newDecoder().decode(raw).toString();
    } catch (CharacterCodingException e) {
      throw new MalformedEvent();
    }
  }

  /** An int from 0 up, -1 for nil. */
  static int readOptionalInt(MsgPackCursor cursor) {
    return cursor.nextIsNil() ? -1 : readInt(cursor);
  }

  /** An int from 0 up. */
  static int readInt(MsgPackCursor cursor) {
    long value = cursor.readUpTo(Integer.MAX_VALUE);
    if (value < 0) {
      throw new MalformedEvent();
    }
    return (int) value;
  }

  /** A list of block hashes. */
  static Hashes readHashes(MsgPackCursor cursor) {
    long[] hashes = new long[cursor.readArrayHeader()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = readHash(cursor);
    }
    return Hashes.of(hashes);
  }

  /**
   * A block hash: integers as raw bits, bytes (also as str, from packers without bin) as their last
   * eight big-endian, which is how vLLM makes its integers.
   */
  static long readHash(MsgPackCursor cursor) {
    MsgPackType type = cursor.peek();
    if (type == MsgPackType.INT) {
      return cursor.readLong();
    } else if (type != MsgPackType.BIN && type != MsgPackType.STR) {
      throw new MalformedEvent();
    }
    int length = cursor.readRawHeader();
    if (length == 0) {
      throw new MalformedEvent();
    }
    int end = cursor.position() + length;
    long hash = 0;
    for (int i = Math.max(cursor.position(), end - Long.BYTES); i < end; i++) {
      hash = hash << Byte.SIZE | (cursor.bytes()[i] & 0xff);
    }
    cursor.seek(end);
    return hash;
  }
}
