// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.reply;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Growable buffer for MessagePack answers, reused from request to request so that an answer
 * allocates nothing. Writes what it is told: that a map gets the members its header announces is
 * the caller's business. Not thread-safe.
 */
public final class MsgpackBuffer {
  private static final int INITIAL = 1024;
  private static final int KEPT = 1 << 20;

  private byte[] bytes = new byte[INITIAL];
  private int length;

  /** Empties the buffer; gives an unusually large one back. */
  public void clear() {
    length = 0;
    if (bytes.length > KEPT) {
      bytes = new byte[INITIAL];
    }
  }

  /** View of what was written; valid until the next write or {@link #clear()}. */
  public ByteBuffer asByteBuffer() {
    return ByteBuffer.wrap(bytes, 0, length);
  }

  /** Copy of what was written. */
  public byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }

  /** Values that are encoded already. */
  public MsgpackBuffer raw(byte[] encoded) {
    room(encoded.length);
    System.arraycopy(encoded, 0, bytes, length, encoded.length);
    length += encoded.length;
    return this;
  }

  public MsgpackBuffer nil() {
    return put(0xC0);
  }

  public MsgpackBuffer bool(boolean value) {
    return put(value ? 0xC3 : 0xC2);
  }

  /** An integer in its shortest form. */
  public MsgpackBuffer number(long value) {
    if (value >= 0) {
      return value < 0x80 ? put((int) value) : unsigned(value);
    }
    if (value >= -32) {
      return put((int) value);
    } else if (value >= Byte.MIN_VALUE) {
      return put(0xD0).put((int) value);
    } else if (value >= Short.MIN_VALUE) {
      return put(0xD1).big(value, 2);
    }
    return value >= Integer.MIN_VALUE ? put(0xD2).big(value, 4) : put(0xD3).big(value, 8);
  }

  /** An integer of 64 bits without a sign in its shortest form. */
  public MsgpackBuffer unsigned(long value) {
    if (value < 0 || value > 0xFFFF_FFFFL) {
      return put(0xCF).big(value, 8);
    } else if (value > 0xFFFF) {
      return put(0xCE).big(value, 4);
    } else if (value > 0xFF) {
      return put(0xCD).big(value, 2);
    }
    return value >= 0x80 ? put(0xCC).put((int) value) : put((int) value);
  }

  public MsgpackBuffer real(double value) {
    return put(0xCB).big(Double.doubleToRawLongBits(value), 8);
  }

  /** A string; lone surrogates are replaced. */
  public MsgpackBuffer string(String text) {
    int count = text.length();
    if (count > 31 || !isAscii(text)) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      return header(utf8.length, 0xA0, 31, 0xD9).raw(utf8);
    }
    room(count + 1);
    bytes[length++] = (byte) (0xA0 | count);
    for (int i = 0; i < count; i++) {
      bytes[length++] = (byte) text.charAt(i);
    }
    return this;
  }

  private static boolean isAscii(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) >= 0x80) {
        return false;
      }
    }
    return true;
  }

  /** A number from 0 as a string of its decimal digits. */
  public MsgpackBuffer digits(int value) {
    int count = 1;
    for (int rest = value; rest >= 10; rest /= 10) {
      count++;
    }
    put(0xA0 | count);
    room(count);
    length += count;
    int rest = value;
    for (int i = 1; i <= count; i++) {
      bytes[length - i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    return this;
  }

  /** Header of a map of that many members. */
  public MsgpackBuffer map(int members) {
    return header(members, 0x80, 15, 0xDD);
  }

  /** Header of an array of that many elements. */
  public MsgpackBuffer array(int elements) {
    return header(elements, 0x90, 15, 0xDB);
  }

  /**
   * Begins a map whose members are counted while they are written.
   *
   * @return what {@link #endMap} wants
   */
  public int beginMap() {
    put(0xDF).big(0, 4);
    return length - 4;
  }

  /** Ends what {@link #beginMap} began. */
  public void endMap(int begun, int members) {
    for (int i = 0; i < 4; i++) {
      bytes[begun + i] = (byte) (members >>> 24 - 8 * i);
    }
  }

  /**
   * A count in the lead byte, or behind it.
   *
   * @param fixed lead byte of the short form
   * @param most largest count of the short form
   * @param wide one less than the lead byte with two bytes behind it; of strings that with one
   */
  private MsgpackBuffer header(int count, int fixed, int most, int wide) {
    if (count <= most) {
      return put(fixed | count);
    } else if (wide == 0xD9 && count <= 0xFF) {
      return put(wide).put(count);
    }
    return count <= 0xFFFF ? put(wide + 1).big(count, 2) : put(wide + 2).big(count, 4);
  }

  private MsgpackBuffer put(int value) {
    room(1);
    bytes[length++] = (byte) value;
    return this;
  }

  private MsgpackBuffer big(long value, int count) {
    room(count);
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
      bytes[length++] = (byte) (value >>> shift);
    }
    return this;
  }

  private void room(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, bytes.length * 2));
    }
  }
}
