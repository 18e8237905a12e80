// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.Arrays;
import java.util.Objects;

/**
 * The tokens of a stored event, where they lie in its payload, and whether they can be told apart
 * by block. Nothing is copied until a block is hashed, and nothing at all where the engine's own
 * names are the hashes. Immutable as long as nobody writes to the payload; compares by value.
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
  public static final TokenIds NONE = new TokenIds(new byte[0], 0, 0, false, Fit.NONE);

  /** Tokens that no block can be given. */
  static final TokenIds UNUSABLE = new TokenIds(new byte[0], 0, 0, false, Fit.UNUSABLE);

  private static final long MAX_TOKEN = 0xffff_ffffL;

  private final byte[] payload;
  private final int start;
  private final int size;
  private final boolean bigram;
  private final Fit fit;

  private TokenIds(byte[] payload, int start, int size, boolean bigram, Fit fit) {
    this.payload = payload;
    this.start = start;
    this.size = size;
    this.bigram = bigram;
    this.fit = fit;
  }

  /**
   * Finds what {@code token_ids} are: nil, a flat list, or the pairs of an engine that decodes
   * speculatively.
   *
   * @param plain ids at the list's beginning known to be integers of 32 bits, unsigned
   * @param hashes blocks of the event
   * @param stated tokens a block as the event says, 0 = it does not
   * @param registered tokens a block of events that do not say, 0 = not known
   * @throws MalformedEvent if one of them is no integer
   */
  static TokenIds read(MsgPackCursor cursor, int plain, int hashes, int stated, int registered) {
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
        : readFlat(cursor, plain, count, wanted, hashes == 1 && stated > 0);
  }

  private static TokenIds readFlat(
      MsgPackCursor cursor, int plain, int count, long wanted, boolean ofOne) {
    int start = cursor.position();
    if (plain < count && !areIds(cursor, count)) {
      return UNUSABLE;
    }
    Fit fit =
        count == wanted
            ? Fit.EXACT
            : ofOne && count == wanted + 1 ? Fit.ONE_TOO_MANY : Fit.UNUSABLE;
    return new TokenIds(cursor.bytes(), start, count, false, fit);
  }

  private static boolean areIds(MsgPackCursor cursor, int count) {
    boolean all = true;
    for (int i = 0; i < count; i++) {
      all &= cursor.readUpTo(MAX_TOKEN) >= 0;
    }
    return all;
  }

  /** Neighbouring pairs share a token: [[a,b],[b,c]] is a b c. */
  private static TokenIds readPairs(MsgPackCursor cursor, int count, long wanted) {
    int start = cursor.position();
    boolean usable = count == wanted;
    long before = -1;
    for (int i = 0; i < count; i++) {
      if (cursor.readArrayHeader() != 2) {
        throw new MalformedEvent();
      }
      long first = cursor.readUpTo(MAX_TOKEN);
      long second = cursor.readUpTo(MAX_TOKEN);
      usable &= (first | second) >= 0 && (i == 0 || first == before);
      before = second;
    }
    Fit fit = usable ? Fit.EXACT : Fit.UNUSABLE;
    return new TokenIds(cursor.bytes(), start, count + 1, true, fit);
  }

  /** How many ids; for pairs one more than there are pairs; 0 if one is beyond 32 bits. */
  public int size() {
    return size;
  }

  /** From the first block on. */
  public Reader reader() {
    return new Reader(new MsgPackCursor(payload, start, payload.length));
  }

  /** The ids of the first block of so many tokens, or pairs, as u32 bits. */
  public int[] first(int blockSize) {
    int[] block = new int[bigram ? blockSize + 1 : blockSize];
    reader().next(block);
    return block;
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

  private int[] values() {
    int[] values = new int[size];
    if (size > 0) {
      reader().next(values);
    }
    return values;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TokenIds tokens
        && bigram == tokens.bigram
        && fit == tokens.fit
        && Arrays.equals(values(), tokens.values());
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(values()) + fit.hashCode();
  }

  /** Number and fit only: prompts do not belong in logs. */
  @Override
  public String toString() {
    return size + (bigram ? " paired" : "") + " tokens, " + fit;
  }

  /** Reads ids block by block. For one thread. */
  public final class Reader {
    private final MsgPackCursor cursor;

    /** Ids, or pairs, not read yet. */
    private int left = bigram ? size - 1 : size;

    private Reader(MsgPackCursor cursor) {
      this.cursor = cursor;
    }

    /**
     * Reads the next block.
     *
     * @param block takes its ids as u32 bits: as many as a block has tokens, and one more for pairs
     * @throws IndexOutOfBoundsException if there are not as many left
     */
    public void next(int[] block) {
      int wanted = bigram ? block.length - 1 : block.length;
      Objects.checkFromIndexSize(0, wanted, left); // what lies behind them is no token
      left -= wanted;
      if (!bigram) {
        cursor.readIds(block);
        return;
      }
      for (int i = 0; i < wanted; i++) {
        cursor.readArrayHeader();
        block[i] = (int) cursor.readLong();
        block[i + 1] = (int) cursor.readLong();
      }
    }
  }
}
