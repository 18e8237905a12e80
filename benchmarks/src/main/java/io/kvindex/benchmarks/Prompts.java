// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.model.Incarnation;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import java.util.Random;

/**
 * Prompts of random tokens, shared by many instances to different depths; no two benches differ.
 */
final class Prompts {

  static final int BLOCK_SIZE = 16;
  static final long SEED = 1337;

  private final SeqHash hash = new SeqHash(SEED);
  private final int[][] tokens;

  Prompts(int count, int length, Random random) {
    tokens = new int[count][];
    for (int p = 0; p < count; p++) {
      tokens[p] = random.ints(length, 0, 128_000).toArray();
    }
  }

  int[] tokens(int prompt) {
    return tokens[prompt];
  }

  long[] keys(int prompt) {
    return hash.rolled(hash.locals(tokens[prompt], tokens[prompt].length, BLOCK_SIZE));
  }

  static Owner owner(int instance) {
    return new Owner(
        "default", "instance-" + instance, 0, 0, "GPU", false, null, new Incarnation(1, 1, 0));
  }

  /**
   * Every owner holds every prompt: the first all of it, the others at least nine tenths, ending at
   * {@code places} different depths.
   */
  void share(PrefixIndex index, int[] slots, int places) {
    for (int p = 0; p < tokens.length; p++) {
      long[] keys = keys(p);
      int tail = keys.length / 10;
      for (int s = 0; s < slots.length; s++) {
        int depth = keys.length - (s == 0 ? 0 : tail * (1 + s % places) / places);
        for (int i = 0; i < depth; i++) {
          index.add(keys[i], slots[s]);
        }
      }
    }
  }

  /** Hashes a prompt's blocks as the walk asks for them. */
  static final class Lazy implements BlockKeys {
    private final SeqHash hash = new SeqHash(SEED);
    private final long[] scratch = new long[2];
    private int[] tokens = new int[0];
    private long last;

    Lazy of(int[] prompt) {
      tokens = prompt;
      return this;
    }

    @Override
    public int fill(long[] out, int from, int max) {
      int count = Math.min(max, tokens.length / BLOCK_SIZE - from);
      long seq = last;
      for (int i = 0; i < count; i++) {
        long local = hash.local(tokens, (from + i) * BLOCK_SIZE, BLOCK_SIZE);
        seq = from + i == 0 ? local : hash.roll(seq, local, scratch);
        out[i] = seq;
      }
      last = seq;
      return count;
    }
  }
}
