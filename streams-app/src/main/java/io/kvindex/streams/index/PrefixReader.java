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
      prepare(owners.words(), contexts.length);
      visitor.begin(owners);
      int end = walk(index, keys, contexts, owners, visitor);
      visitor.end(end);
      return end;
    } finally {
      epochs.exit(place);
    }
  }

  private void prepare(int words, int contexts) {
    if (bits.length < words) {
      bits = new long[words + 8];
      union = new long[words + 8];
    }
    if (ids.length < contexts) {
      ids = new int[contexts];
      current = chunks(contexts);
      next = chunks(contexts);
    }
    Arrays.fill(bits, 0);
    Arrays.fill(ids, NO_ID);
  }

  private static Chunk[] chunks(int count) {
    Chunk[] chunks = new Chunk[count];
    Arrays.setAll(chunks, c -> new Chunk());
    return chunks;
  }

  private int walk(
      PrefixIndex index, BlockKeys keys, long[] contexts, OwnerView owners, RunVisitor visitor) {
    long[][] directory = index.table().directory();
    int position = 0;
    int filled = fill(keys, 0, FIRST_CHUNK, directory, contexts);
    while (filled > 0) {
      swapChunks();
      boolean first = position == 0;
      int ahead = first ? 0 : fill(keys, position + filled, CHUNK, directory, contexts);
      for (int c = 0; c < contexts.length; c++) {
        current[c].resolve(directory, filled);
      }
      for (int i = 0; (i = nextOther(i, filled, contexts.length)) < filled; i++) {
        if (!changed(wordsAt(i, index.sets(), contexts.length), owners, position + i, visitor)) {
          return position + i;
        }
      }
      position += filled;
      filled = first ? fill(keys, position, CHUNK, directory, contexts) : ahead;
    }
    return position;
  }

  private void swapChunks() {
    Chunk[] swap = current;
    current = next;
    next = swap;
  }

  /** Has the next chunk hashed and asked for. */
  private int fill(BlockKeys keys, int from, int max, long[][] directory, long[] contexts) {
    int filled = 0;
    BlockKeys before = null;
    for (int c = 0; c < contexts.length; c++) {
      BlockKeys own = keys.in(c);
      if (own != before) {
        filled = own.fill(hashes, from, max);
        before = own;
      }
      next[c].locate(directory, hashes, filled, contexts[c]);
    }
    return filled;
  }

  /** First block of the chunk, from one on, with another set in any context than the one before. */
  private int nextOther(int from, int filled, int contexts) {
    int found = filled;
    for (int c = 0; c < contexts; c++) {
      found = current[c].nextOther(from, found, ids[c]);
    }
    return found;
  }

  /** Bits of all owners of a block of the chunk, live or not. */
  private long[] wordsAt(int i, OwnerSets sets, int contexts) {
    for (int c = 0; c < contexts; c++) {
      ids[c] = current[c].id(i);
    }
    if (contexts == 1) {
      return sets.words(ids[0]);
    }
    Arrays.fill(union, 0);
    for (int c = 0; c < contexts; c++) {
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
