// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.Arrays;

/**
 * The tokens of a stored event and whether they can be told apart by block. Immutable; compares by
 * value.
 */
public final class TokenIds {

  /** How the number of tokens agrees with hashes and block size. */
  public enum Fit {
    /** The event has no tokens. */
    NONE,
    /** Exactly block size tokens for each hash. */
    EXACT,
    /** The event states no block size; whether the tokens fit only the registered one can tell. */
    SIZE_UNSTATED,
    /** One token too many for one hash: early LMCache slices {@code start:end+1}. */
    ONE_TOO_MANY,
    /** Any other number, or ids beyond 32 bits: no token can be assigned to a block. */
    UNUSABLE
  }

  /** No tokens. */
  public static final TokenIds NONE = new TokenIds(new int[0], false, Fit.NONE);

  private final int[] values;
  private final boolean bigram;
  private final Fit fit;

  TokenIds(int[] values, boolean bigram, Fit fit) {
    this.values = values;
    this.bigram = bigram;
    this.fit = fit;
  }

  /**
   * The same tokens where the event states no block size and its blocks are of the registered one.
   *
   * @param hashes blocks of the event
   * @param blockSize tokens a block
   */
  TokenIds sized(int hashes, int blockSize) {
    if (fit != Fit.SIZE_UNSTATED) {
      return this;
    }
    long wanted = (long) hashes * blockSize + (bigram ? 1 : 0);
    return new TokenIds(values, bigram, values.length == wanted ? Fit.EXACT : Fit.UNUSABLE);
  }

  /** How many ids; for pairs one more than there are pairs. */
  public int size() {
    return values.length;
  }

  /**
   * The ids as u32 bits. Not copied, for the hash loop: do not write to it.
   *
   * @return flat ids of all blocks in order
   */
  public int[] values() {
    return values;
  }

  /**
   * Whether the engine sent pairs (speculative decoding hashes each token with its successor): a
   * block of n pairs then spans n + 1 of the ids, neighbours share one.
   */
  public boolean isBigram() {
    return bigram;
  }

  /** How the number of tokens agrees with hashes and block size. */
  public Fit fit() {
    return fit;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TokenIds tokens
        && bigram == tokens.bigram
        && fit == tokens.fit
        && Arrays.equals(values, tokens.values);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(values) + fit.hashCode();
  }

  /** Number and fit only: prompts do not belong in logs. */
  @Override
  public String toString() {
    return values.length + (bigram ? " paired" : "") + " tokens, " + fit;
  }
}
