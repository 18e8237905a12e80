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
    /** One token too many for one hash: early LMCache slices {@code start:end+1}. */
    ONE_TOO_MANY,
    /** Any other number, or ids beyond 32 bits: no token can be assigned to a block. */
    UNUSABLE
  }

  /** No tokens. */
  public static final TokenIds NONE = new TokenIds(new int[0], false, Fit.NONE);

  /** Tokens that no block can be given. */
  static final TokenIds UNUSABLE = new TokenIds(new int[0], false, Fit.UNUSABLE);

  private static final long MAX_TOKEN = 0xffff_ffffL;

  private final int[] values;
  private final boolean bigram;
  private final Fit fit;

  TokenIds(int[] values, boolean bigram, Fit fit) {
    this.values = values;
    this.bigram = bigram;
    this.fit = fit;
  }

  /**
   * Reads {@code token_ids}: nil, a flat list, or the pairs of an engine that decodes
   * speculatively.
   *
   * @param hashes blocks of the event
   * @param stated tokens a block as the event says, 0 = it does not
   * @param registered tokens a block of events that do not say, 0 = not known
   */
  static TokenIds read(MsgPackCursor cursor, int hashes, int stated, int registered) {
    if (cursor.nextIsNil()) {
      return NONE;
    }
    int count = cursor.readArrayHeader();
    if (count == 0) {
      return NONE;
    }
    long wanted = (long) hashes * (stated == 0 ? registered : stated);
    return cursor.peek() == MsgPackType.ARRAY
        ? readPairs(cursor, count, wanted)
        : readFlat(cursor, count, wanted, hashes == 1 && stated > 0);
  }

  private static TokenIds readFlat(MsgPackCursor cursor, int count, long wanted, boolean ofOne) {
    int[] tokens = new int[count];
    if (!cursor.readUnsigned(tokens)) {
      return UNUSABLE;
    } else if (count == wanted) {
      return new TokenIds(tokens, false, Fit.EXACT);
    }
    boolean oneTooMany = ofOne && count == wanted + 1;
    return new TokenIds(tokens, false, oneTooMany ? Fit.ONE_TOO_MANY : Fit.UNUSABLE);
  }

  /** Neighbouring pairs share a token: [[a,b],[b,c]] is a b c. */
  private static TokenIds readPairs(MsgPackCursor cursor, int count, long wanted) {
    int[] tokens = new int[count + 1];
    boolean usable = count == wanted;
    for (int i = 0; i < count; i++) {
      if (cursor.readArrayHeader() != 2) {
        throw new MalformedEvent();
      }
      long first = cursor.readUpTo(MAX_TOKEN);
      long second = cursor.readUpTo(MAX_TOKEN);
      usable &= (first | second) >= 0 && (i == 0 || tokens[i] == (int) first);
      tokens[i] = (int) first;
      tokens[i + 1] = (int) second;
    }
    return new TokenIds(tokens, true, usable ? Fit.EXACT : Fit.UNUSABLE);
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
