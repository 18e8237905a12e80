// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.reply;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Growable UTF-8 buffer for small JSON answers, reused from request to request so that an answer
 * allocates nothing. Writes what it is told: commas and brackets are the caller's. Not thread-safe.
 */
public final class JsonBuffer {
  private static final int INITIAL = 4096;
  private static final int KEPT = 1 << 20;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  /** All numbers of two digits: an answer has hundreds of small ones. */
  private static final byte[] PAIRS = new byte[200];

  private static final int MAX_DIGITS = 19;

  static {
    for (int i = 0; i < 100; i++) {
      PAIRS[2 * i] = (byte) ('0' + i / 10);
      PAIRS[2 * i + 1] = (byte) ('0' + i % 10);
    }
  }

  private byte[] bytes = new byte[INITIAL];
  private int length;

  /** Text to write {@link #raw}. */
  public static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Empties the buffer; gives an unusually large one back. */
  public void clear() {
    length = 0;
    if (bytes.length > KEPT) {
      bytes = new byte[INITIAL];
    }
  }

  public int length() {
    return length;
  }

  /** View of what was written; valid until the next write or {@link #clear()}. */
  public ByteBuffer asByteBuffer() {
    return ByteBuffer.wrap(bytes, 0, length);
  }

  /** Copy of what was written, as text. */
  public String asText() {
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  public JsonBuffer raw(byte[] encoded) {
    room(encoded.length);
    System.arraycopy(encoded, 0, bytes, length, encoded.length);
    length += encoded.length;
    return this;
  }

  /** What another buffer holds. */
  public JsonBuffer raw(JsonBuffer other) {
    room(other.length);
    System.arraycopy(other.bytes, 0, bytes, length, other.length);
    length += other.length;
    return this;
  }

  /** One ASCII character of punctuation. */
  public JsonBuffer raw(char ascii) {
    room(1);
    bytes[length++] = (byte) ascii;
    return this;
  }

  /** A decimal number. */
  public JsonBuffer number(long value) {
    room(20);
    if (value < 0) {
      if (value == Long.MIN_VALUE) {
        return raw("-9223372036854775808".getBytes(StandardCharsets.US_ASCII));
      }
      bytes[length++] = '-';
      value = -value;
    }
    int digits = digits(value);
    int at = length + digits;
    while (value >= 10) {
      long rest = value / 100;
      int pair = (int) (value - rest * 100) * 2;
      bytes[--at] = PAIRS[pair + 1];
      bytes[--at] = PAIRS[pair];
      value = rest;
    }
    if (at > length) {
      bytes[--at] = (byte) ('0' + value);
    }
    length += digits;
    return this;
  }

  /** A decimal number whose 64 bits are unsigned. */
  public JsonBuffer unsigned(long value) {
    return value >= 0
        ? number(value)
        : raw(Long.toUnsignedString(value).getBytes(StandardCharsets.US_ASCII));
  }

  private static int digits(long value) {
    int digits = 1;
    for (long limit = 10; value >= limit; limit *= 10) {
      digits++;
      if (digits == MAX_DIGITS) {
        break; // the next limit would not fit
      }
    }
    return digits;
  }

  /** A quoted and escaped string. */
  public JsonBuffer string(String text) {
    raw('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        // Rare enough to afford the encoder, which also replaces lone surrogates.
        int next = i + 1;
        while (next < text.length() && text.charAt(next) >= 0x80) {
          next++;
        }
        raw(text.substring(i, next).getBytes(StandardCharsets.UTF_8));
        i = next - 1;
      } else if (c == '"' || c == '\\') {
        raw('\\').raw(c);
      } else if (c < ' ') {
        raw('\\').raw('u').raw('0').raw('0').raw((char) HEX[c >> 4]).raw((char) HEX[c & 15]);
      } else {
        raw(c);
      }
    }
    return raw('"');
  }

  /** {@code "name":} with the name escaped. */
  public JsonBuffer name(String name) {
    return string(name).raw(':');
  }

  private void room(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, bytes.length * 2));
    }
  }
}
