// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * vLLM v1 block hashes, algorithm {@code sha256_cbor}: SHA-256 over the canonical CBOR of {@code
 * [parent digest, [tokens], extra keys or null]}; the root is SHA-256 over the CBOR of a seed text.
 * Extra keys: the adapter's name on every block, then the salt on the first.
 */
final class VllmHasher implements BlockHasher {
  /** Since #51875 (August 2026); before, random per process unless PYTHONHASHSEED was set. */
  static final String DEFAULT_SEED = "vllm-none-hash";

  private final Sha256 sha256 = new Sha256();
  private final CborWriter cbor = new CborWriter();
  private final BlockHash root;

  VllmHasher(String seed) {
    cbor.reset();
    cbor.text(seed);
    root = hash();
  }

  @Override
  public BlockHash root(CacheContext context) {
    return root;
  }

  @Override
  public BlockHash next(BlockHash parent, int[] tokens, CacheContext context, boolean first) {
    cbor.reset();
    cbor.array(3);
    cbor.bytes(parent.digest());
    cbor.array(tokens.length);
    for (int token : tokens) {
      cbor.unsigned(Integer.toUnsignedLong(token));
    }
    List<String> keys = extraKeys(context, first);
    if (keys.isEmpty()) {
      cbor.nil();
    } else {
      cbor.array(keys.size());
      keys.forEach(cbor::text);
    }
    return hash();
  }

  /** The block's extra keys, in vLLM's order; empty = none. Also what its events carry. */
  static List<String> extraKeys(CacheContext context, boolean first) {
    List<String> keys = new ArrayList<>(2);
    if (context.lora() != null) {
      keys.add(context.lora());
    }
    if (first && context.salt() != null) {
      keys.add(context.salt());
    }
    return keys;
  }

  private BlockHash hash() {
    byte[] digest = sha256.of(cbor.buffer(), cbor.length());
    return new BlockHash(Sha256.last8(digest), digest);
  }

  /** The few CBOR types above, shortest encoding (RFC 8949, 4.2.1), into one reused buffer. */
  private static final class CborWriter {
    private byte[] buffer = new byte[256];
    private int length;

    void reset() {
      length = 0;
    }

    byte[] buffer() {
      return buffer;
    }

    int length() {
      return length;
    }

    void unsigned(long value) {
      head(0x00, value);
    }

    void array(int size) {
      head(0x80, size);
    }

    void nil() {
      put(0xf6);
    }

    void bytes(byte[] value) {
      head(0x40, value.length);
      raw(value);
    }

    void text(String value) {
      byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
      head(0x60, utf8.length);
      raw(utf8);
    }

    private void head(int major, long value) {
      if (value < 24) {
        put(major | (int) value);
      } else if (value <= 0xff) {
        number(major | 24, value, 1);
      } else if (value <= 0xffff) {
        number(major | 25, value, 2);
      } else {
        number(major | 26, value, 4);
      }
    }

    private void number(int head, long value, int bytes) {
      put(head);
      for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        put((int) (value >>> shift));
      }
    }

    private void raw(byte[] value) {
      for (byte b : value) {
        put(b);
      }
    }

    private void put(int b) {
      if (length == buffer.length) {
        buffer = Arrays.copyOf(buffer, length * 2);
      }
      buffer[length++] = (byte) b;
    }
  }
}
