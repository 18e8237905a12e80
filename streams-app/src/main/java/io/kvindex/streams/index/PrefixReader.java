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
  private static final int CHUNK = 32;

  /** Most misses are misses at once: do not hash a whole chunk to find out. */
  private static final int FIRST_CHUNK = 4;

  /** Before the first block: differs from every id, also from that of the empty set. */
  private static final int NO_ID = -1;

  private static final AtomicInteger HINTS = new AtomicInteger();

  private long[] current = new long[CHUNK];
  private long[] next = new long[CHUNK];
  private long[] bits = new long[16];
  private long[] union = new long[16];
  private int[] ids = new int[1];
  private int place = HINTS.getAndIncrement() & 0xFFFF;

  @SuppressWarnings("UnusedVariable") // keeps the loads of touch() alive
  private long touched;

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
      int end =
          contexts.length == 1
              ? walkOne(index, keys, contexts, owners, visitor)
              : walkSeveral(index, keys, contexts, owners, visitor);
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
    }
    Arrays.fill(bits, 0);
    Arrays.fill(ids, OwnerSets.EMPTY);
  }

  private int walkOne(
      PrefixIndex index, BlockKeys keys, long[] contexts, OwnerView owners, RunVisitor visitor) {
    long context = contexts[0];
    long[][] directory = index.table().directory();
    int position = 0;
    int id = NO_ID;
    int filled = keys.fill(current, 0, FIRST_CHUNK);
    while (filled > 0) {
      int ahead = position == 0 ? 0 : keys.fill(next, position + filled, CHUNK);
      touch(directory, next, ahead, contexts);
      for (int i = 0; i < filled; i++) {
        long key = current[i] ^ context;
        long mixed = Segment.mix(key);
        int found = Segment.find(KeyTable.segment(directory, mixed), mixed, key);
        if (found != id) {
          if (found == OwnerSets.EMPTY
              || !changed(index.sets().words(found), owners, position + i, visitor)) {
            return position + i;
          }
          id = found;
        }
      }
      position += filled;
      filled = advance(directory, keys, position, ahead, contexts);
    }
    return position;
  }

  private int walkSeveral(
      PrefixIndex index, BlockKeys keys, long[] contexts, OwnerView owners, RunVisitor visitor) {
    long[][] directory = index.table().directory();
    int position = 0;
    int filled = keys.fill(current, 0, FIRST_CHUNK);
    while (filled > 0) {
      int ahead = position == 0 ? 0 : keys.fill(next, position + filled, CHUNK);
      touch(directory, next, ahead, contexts);
      for (int i = 0; i < filled; i++) {
        if (lookUp(directory, current[i], contexts)
            && !changed(unite(index.sets(), contexts.length), owners, position + i, visitor)) {
          return position + i;
        }
      }
      position += filled;
      filled = advance(directory, keys, position, ahead, contexts);
    }
    return position;
  }

  /** Makes the chunk fetched ahead the current one; right after the first chunk there is none. */
  private int advance(
      long[][] directory, BlockKeys keys, int position, int ahead, long[] contexts) {
    if (ahead == 0) {
      int filled = keys.fill(current, position, CHUNK);
      touch(directory, current, filled, contexts);
      return filled;
    }
    long[] swap = current;
    current = next;
    next = swap;
    return ahead;
  }

  private void touch(long[][] directory, long[] keys, int count, long[] contexts) {
    long seen = 0;
    for (long context : contexts) {
      for (int i = 0; i < count; i++) {
        long mixed = Segment.mix(keys[i] ^ context);
        seen ^= Segment.touch(KeyTable.segment(directory, mixed), mixed);
      }
    }
    touched = seen;
  }

  /** Looks a block up in each context; whether any set differs from the block before. */
  private boolean lookUp(long[][] directory, long seqHash, long[] contexts) {
    boolean different = false;
    boolean any = false;
    for (int c = 0; c < contexts.length; c++) {
      long key = seqHash ^ contexts[c];
      long mixed = Segment.mix(key);
      int found = Segment.find(KeyTable.segment(directory, mixed), mixed, key);
      different |= found != ids[c];
      any |= found != OwnerSets.EMPTY;
      ids[c] = found;
    }
    return different || !any;
  }

  private long[] unite(OwnerSets sets, int contexts) {
    Arrays.fill(union, 0);
    for (int c = 0; c < contexts; c++) {
      if (ids[c] != OwnerSets.EMPTY) {
        long[] words = sets.words(ids[c]);
        for (int i = 0; i < Math.min(words.length, union.length); i++) {
          union[i] |= words[i];
        }
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
