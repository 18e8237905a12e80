// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Walks prompts through any table. Lock-free, allocates nothing per walk once its buffers have
 * grown; to be used by one thread at a time.
 *
 * <p>Blocks are looked up in chunks: the next chunk's hashes are computed and their table entries
 * asked for before the current chunk is looked at, so that cache misses overlap each other and the
 * hashing.
 */
public final class PrefixReader {

  /** Lookups in flight; more than a core can keep outstanding brings nothing. */
  private static final int CHUNK = Chunk.SIZE;

  /** Most misses are misses at once: do not hash a whole chunk to find out. */
  private static final int FIRST_CHUNK = 4;

  /** Before the first block: differs from every id, also from that of the empty set. */
  private static final int NO_ID = -1;

  private static final AtomicInteger HINTS = new AtomicInteger();

  private final long[] hashes = new long[CHUNK];
  private long[] bits = new long[16];
  private long[] union = new long[16];

  /** Per context: the chunk looked at, the one fetched ahead, and the set of the block before. */
  private Chunk[] current = {new Chunk()};

  private Chunk[] next = {new Chunk()};
  private int[] ids = new int[1];

  /** Of the contexts that are still looked at, in their order. */
  private BlockKeys[] chains = new BlockKeys[1];

  private long[] xors = new long[1];
  private int lanes;
  private int place = HINTS.getAndIncrement() & 0xFFFF;

  /** A reader for any table. */
  public PrefixReader() {}

  /**
   * Walks a prompt until the first block no live owner holds in any of the contexts.
   *
   * @param contexts what to xor into the rolling hashes; usually one. With several, a block's
   *     owners are those of all of them together.
   * @return number of blocks walked
   * @throws IllegalStateException if more walks run at the same instant than the index has reader
   *     places for
   */
  public int walk(PrefixIndex index, BlockKeys keys, long[] contexts, RunVisitor visitor) {
    Epochs epochs = index.epochs();
    place = epochs.enter(place);
    try {
      // After entering: slots and set ids seen from here on are not reused before exit.
      OwnerView owners = index.owners();
      prepare(owners.words(), keys, contexts);
      visitor.begin(owners);
      int end = walk(index, keys, owners, visitor);
      visitor.end(end);
      return end;
    } finally {
      epochs.exit(place);
    }
  }

  private void prepare(int words, BlockKeys keys, long[] contexts) {
    if (bits.length < words) {
      bits = new long[words + 8];
      union = new long[words + 8];
    }
    lanes = contexts.length;
    if (ids.length < lanes) {
      ids = new int[lanes];
      chains = new BlockKeys[lanes];
      xors = new long[lanes];
      current = chunks(lanes);
      next = chunks(lanes);
    }
    Arrays.fill(bits, 0);
    Arrays.fill(ids, NO_ID);
    for (int c = 0; c < lanes; c++) {
      chains[c] = keys.in(c);
      xors[c] = contexts[c];
    }
  }

  private static Chunk[] chunks(int count) {
    Chunk[] chunks = new Chunk[count];
    Arrays.setAll(chunks, c -> new Chunk());
    return chunks;
  }

  private int walk(PrefixIndex index, BlockKeys keys, OwnerView owners, RunVisitor visitor) {
    long[][] directory = index.table().directory();
    int position = 0;
    int filled = fill(0, FIRST_CHUNK, directory);
    while (filled > 0) {
      swapChunks();
      boolean first = position == 0;
      int ahead = first ? 0 : fill(position + filled, CHUNK, directory);
      for (int c = 0; c < lanes; c++) {
        current[c].resolve(directory, filled);
      }
      if (first) {
        dropUnheld(keys);
      }
      for (int i = 0; (i = nextOther(i, filled)) < filled; i++) {
        if (!changed(wordsAt(i, index.sets()), owners, position + i, visitor)) {
          return position + i;
        }
      }
      position += filled;
      filled = first ? fill(position, CHUNK, directory) : ahead;
    }
    return position;
  }

  /** Leaves out the optional contexts whose first block nobody holds. */
  private void dropUnheld(BlockKeys keys) {
    int kept = 0;
    for (int c = 0; c < lanes; c++) {
      if (!keys.isOptional(c) || current[c].id(0) != OwnerSets.EMPTY) {
        Chunk chunk = current[c];
        current[c] = current[kept];
        current[kept] = chunk;
        chains[kept] = chains[c];
        xors[kept++] = xors[c];
      }
    }
    lanes = kept;
  }

  private void swapChunks() {
    Chunk[] swap = current;
    current = next;
    next = swap;
  }

  /** Has the next chunk hashed and asked for. */
  private int fill(int from, int max, long[][] directory) {
    int filled = 0;
    BlockKeys before = null;
    for (int c = 0; c < lanes; c++) {
      BlockKeys own = chains[c];
      if (own != before) {
        filled = own.fill(hashes, from, max);
        before = own;
      }
      next[c].locate(directory, hashes, filled, xors[c]);
    }
    return filled;
  }

  /** First block of the chunk, from one on, with another set in any context than the one before. */
  private int nextOther(int from, int filled) {
    int found = filled;
    for (int c = 0; c < lanes; c++) {
      found = current[c].nextOther(from, found, ids[c]);
    }
    return found;
  }

  /** Bits of all owners of a block of the chunk, live or not. */
  private long[] wordsAt(int i, OwnerSets sets) {
    for (int c = 0; c < lanes; c++) {
      ids[c] = current[c].id(i);
    }
    if (lanes == 1) {
      return sets.words(ids[0]);
    }
    Arrays.fill(union, 0);
    for (int c = 0; c < lanes; c++) {
      long[] words = sets.words(ids[c]);
      for (int w = 0; w < Math.min(words.length, union.length); w++) {
        union[w] |= words[w];
      }
    }
    return union;
  }

  /** Masks a set with the live owners and tells the visitor if that is news. */
  private boolean changed(long[] words, OwnerView owners, int position, RunVisitor visitor) {
    long[] live = owners.liveBits();
    long different = 0;
    long any = 0;
    for (int i = 0; i < live.length; i++) {
      long word = i < words.length ? words[i] & live[i] : 0;
      different |= word ^ bits[i];
      any |= word;
      bits[i] = word;
    }
    return any != 0 && (different == 0 || visitor.change(position, bits));
  }
}
