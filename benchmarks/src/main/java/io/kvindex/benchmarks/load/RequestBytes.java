// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Bytes of a request while it is being built. */
final class RequestBytes {
  private static final int FIXSTR = 0xa0;
  private static final int U8 = 0xcc;
  private static final int U16 = 0xcd;
  private static final int U32 = 0xce;
  private static final int U64 = 0xcf;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  RequestBytes text(String ascii) {
    out.writeBytes(ascii.getBytes(StandardCharsets.US_ASCII));
    return this;
  }

  RequestBytes octet(int value) {
    out.write(value);
    return this;
  }

  RequestBytes littleEndian(long value, int bytes) {
    for (int i = 0; i < bytes; i++) {
      out.write((int) (value >>> (Byte.SIZE * i)));
    }
    return this;
  }

  RequestBytes bigEndian(int value) {
    return bigEndian(value, Integer.BYTES);
  }

  private RequestBytes bigEndian(long value, int bytes) {
    for (int i = bytes - 1; i >= 0; i--) {
      out.write((int) (value >>> (Byte.SIZE * i)));
    }
    return this;
  }

  /** A text of at most 31 characters in MessagePack. */
  RequestBytes packed(String ascii) {
    return octet(FIXSTR | ascii.length()).text(ascii);
  }

  /** An unsigned number in MessagePack, as short as it can be, as every library writes it. */
  RequestBytes packed(long value) {
    if (value >>> 7 == 0) {
      return octet((int) value);
    }
    if (value >>> Byte.SIZE == 0) {
      return octet(U8).bigEndian(value, Byte.BYTES);
    }
    if (value >>> Short.SIZE == 0) {
      return octet(U16).bigEndian(value, Short.BYTES);
    }
    return value >>> Integer.SIZE == 0
        ? octet(U32).bigEndian(value, Integer.BYTES)
        : octet(U64).bigEndian(value, Long.BYTES);
  }

  /** Direct and read-only: connections share it through duplicates. */
  ByteBuffer direct() {
    return ByteBuffer.allocateDirect(out.size()).put(out.toByteArray()).flip().asReadOnlyBuffer();
  }
}
