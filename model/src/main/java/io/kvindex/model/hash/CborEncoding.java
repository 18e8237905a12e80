// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

/**
 * {@code sha256_cbor}: canonical CBOR, shortest encoding of every length and number (RFC 8949,
 * 4.2.1).
 */
final class CborEncoding implements VllmEncoding {

  private static final int UNSIGNED = 0x00;
  private static final int BYTES = 0x40;
  private static final int TEXT = 0x60;
  private static final int ARRAY = 0x80;
  private static final int NULL = 0xf6;

  private final ByteSink out = new ByteSink();

  @Override
  public void seed(byte[] utf8) {
    out.clear();
    text(utf8);
  }

  @Override
  public void block(byte[] parent, int[] tokens, int offset, int length, byte[][][] keys) {
    out.clear();
    head(ARRAY, 3);
    head(BYTES, parent.length);
    out.put(parent, parent.length);
    head(ARRAY, length);
    for (int i = offset; i < offset + length; i++) {
      head(UNSIGNED, Integer.toUnsignedLong(tokens[i]));
    }
    if (keys.length == 0) {
      out.put(NULL);
      return;
    }
    head(ARRAY, keys.length);
    for (byte[][] key : keys) {
      if (key.length > 1) {
        head(ARRAY, key.length);
      }
      for (byte[] part : key) {
        text(part);
      }
    }
  }

  @Override
  public ByteSink encoded() {
    return out;
  }

  private void text(byte[] utf8) {
    head(TEXT, utf8.length);
    out.put(utf8, utf8.length);
  }

  private void head(int major, long value) {
    if (value < 24) {
      out.put(major | (int) value);
    } else if (value <= 0xff) {
      out.put(major | 24);
      out.put((int) value);
    } else if (value <= 0xffff) {
      out.put(major | 25);
      out.put((int) (value >>> 8));
      out.put((int) value);
    } else {
      out.put(major | 26);
      out.putIntLe(Integer.reverseBytes((int) value));
    }
  }
}
