// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import net.openhft.hashing.LongHashFunction;

/**
 * XXH3-64 block hashing of RFC 1527: the local hash of a block's tokens, and the rolling hash of
 * the whole prefix up to a block. Immutable and safe for all threads; allocates nothing per block.
 *
 * <p>Source: Mooncake Conductor Indexer API, "Hashing standard": {@code local = XXH3(tokens as u32
 * LE, seed)}, {@code seq[0] = local[0]}, {@code seq[i] = XXH3(seq[i-1] LE || local[i] LE, seed)}.
 */
public final class SeqHash {

  private final LongHashFunction xxh3;
  private final ThreadLocal<long[]> pair = ThreadLocal.withInitial(() -> new long[2]);

  /**
   * @param seed XXH3 seed as raw bits
   */
  public SeqHash(long seed) {
    xxh3 = LongHashFunction.xx3(seed);
  }

  /** Local hash of {@code length} tokens (u32 bits) that start at {@code offset}. */
  public long local(int[] tokens, int offset, int length) {
    return xxh3.hashInts(tokens, offset, length);
  }

  /** Rolling hash of a block from its predecessor's rolling hash and its own local hash. */
  public long roll(long parentSeq, long local) {
    long[] both = pair.get();
    both[0] = parentSeq;
    both[1] = local;
    return xxh3.hashLongs(both);
  }

  /**
   * As {@link #roll(long, long)} with a scratch array of the caller, for loops where looking it up
   * would count.
   *
   * @param scratch two longs, overwritten
   */
  public long roll(long parentSeq, long local, long[] scratch) {
    scratch[0] = parentSeq;
    scratch[1] = local;
    return xxh3.hashLongs(scratch);
  }

  /**
   * Local hashes of all complete blocks; a trailing partial block is left out.
   *
   * @return one hash per complete block of {@code blockSize} tokens
   */
  public long[] locals(int[] tokens, int length, int blockSize) {
    long[] locals = new long[length / blockSize];
    for (int i = 0; i < locals.length; i++) {
      locals[i] = local(tokens, i * blockSize, blockSize);
    }
    return locals;
  }

  /** Rolling hashes of a prompt from its local hashes. */
  public long[] rolled(long[] locals) {
    long[] seq = new long[locals.length];
    long[] scratch = new long[2];
    for (int i = 0; i < locals.length; i++) {
      seq[i] = i == 0 ? locals[0] : roll(seq[i - 1], locals[i], scratch);
    }
    return seq;
  }
}
