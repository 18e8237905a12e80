// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Writes one vLLM batch, {@code [ts, events, rank]} with events as arrays of all fields in vLLM
 * 0.26's declaration order, hashes as unsigned 64-bit integers (its default) and one hash per
 * removal, as its block pool does. Written for speed, not for variety: the sandbox's encoder has
 * that. Not thread-safe.
 */
final class BatchWriter {
  private static final int CAPACITY = 1 << 20;
  private static final byte[] STORED = text("BlockStored");
  private static final byte[] REMOVED = text("BlockRemoved");
  private static final byte[] CLEARED = text("AllBlocksCleared");
  private static final byte[] FULL_ATTENTION = text("full_attention");
  private static final byte[] GPU = text("GPU");
  private static final byte[] CPU = text("CPU");
  private static final int NIL = 0xc0;

  private final ByteBuffer out = ByteBuffer.allocate(CAPACITY);

  /** Token of a block's position; below 2^17. */
  interface Tokens {
    int at(int block, int offset);
  }

  /** Begins a batch of so many events. */
  void begin(double timestampSeconds, int events) {
    out.clear();
    array(3);
    out.put((byte) 0xcb).putDouble(timestampSeconds);
    array(events);
  }

  /**
   * One stored event of {@code count} blocks of {@code blockSize} tokens.
   *
   * @param hashes engine hashes, from {@code from} on; the parent is {@code parent} unless {@code
   *     root}
   * @param tokens tokens of block {@code from + k} at each offset
   */
  void stored(
      long[] hashes,
      int from,
      int count,
      boolean root,
      long parent,
      int blockSize,
      boolean device,
      Tokens tokens) {
    array(12);
    out.put(STORED);
    array(count);
    for (int i = 0; i < count; i++) {
      u64(hashes[from + i]);
    }
    if (root) {
      out.put((byte) NIL);
    } else {
      u64(parent);
    }
    array(count * blockSize);
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < blockSize; k++) {
        u32(tokens.at(from + i, k));
      }
    }
    u32(blockSize);
    out.put((byte) NIL); // lora_id
    out.put(device ? GPU : CPU);
    out.put((byte) NIL); // lora_name
    array(count);
    for (int i = 0; i < count; i++) {
      out.put((byte) NIL); // extra_keys
    }
    u32(0); // group_idx
    out.put(FULL_ATTENTION);
    out.put((byte) NIL); // sliding window
  }

  /** One removal of one block from the device, full-attention group. */
  void removed(long hash) {
    array(4);
    out.put(REMOVED);
    array(1);
    u64(hash);
    out.put(GPU);
    u32(0);
  }

  /** The whole device cache was emptied. */
  void cleared() {
    array(1);
    out.put(CLEARED);
  }

  /** Ends the batch with its rank; the bytes are the caller's. */
  byte[] end() {
    u32(0);
    byte[] bytes = new byte[out.position()];
    out.flip().get(bytes);
    return bytes;
  }

  private void array(int size) {
    if (size < 16) {
      out.put((byte) (0x90 | size));
    } else if (size < 1 << 16) {
      out.put((byte) 0xdc).putShort((short) size);
    } else {
      out.put((byte) 0xdd).putInt(size);
    }
  }

  private void u64(long value) {
    if (value >>> 32 == 0) {
      u32((int) value);
    } else {
      out.put((byte) 0xcf).putLong(value);
    }
  }

  /** Minimal width, as every msgpack library writes integers. */
  private void u32(int value) {
    if (value >= 0 && value < 128) {
      out.put((byte) value);
    } else if (value >>> 8 == 0) {
      out.put((byte) 0xcc).put((byte) value);
    } else if (value >>> 16 == 0) {
      out.put((byte) 0xcd).putShort((short) value);
    } else {
      out.put((byte) 0xce).putInt(value);
    }
  }

  private static byte[] text(String ascii) {
    byte[] bytes = new byte[ascii.length() + 1];
    bytes[0] = (byte) (0xa0 | ascii.length());
    System.arraycopy(ascii.getBytes(StandardCharsets.US_ASCII), 0, bytes, 1, ascii.length());
    return bytes;
  }
}
