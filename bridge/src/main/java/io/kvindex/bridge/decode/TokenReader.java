// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.bridge.decode.TokenIds.Fit;

/** Reads {@code token_ids}: a flat list, or the pairs of an engine that decodes speculatively. */
final class TokenReader {

  private static final long MAX_TOKEN = 0xffff_ffffL;
  private static final TokenIds UNUSABLE = new TokenIds(new int[0], false, Fit.UNUSABLE);

  private TokenReader() {}

  /**
   * Reads tokens or nil.
   *
   * @param hashes blocks of the event
   * @param blockSize tokens a block, 0 = not stated
   */
  static TokenIds read(MsgPackCursor cursor, int hashes, int blockSize) {
    if (cursor.nextIsNil()) {
      return TokenIds.NONE;
    }
    int count = cursor.readArrayHeader();
    if (count == 0) {
      return TokenIds.NONE;
    }
    long wanted = (long) hashes * blockSize;
    return cursor.peek() == MsgPackType.ARRAY
        ? readPairs(cursor, count, wanted, hashes > 0 && blockSize == 0)
        : readFlat(cursor, count, wanted, hashes);
  }

  private static TokenIds readFlat(MsgPackCursor cursor, int count, long wanted, int hashes) {
    int[] tokens = new int[count];
    long signs = 0;
    for (int i = 0; i < count; i++) {
      long token = cursor.readUpTo(MAX_TOKEN);
      signs |= token;
      tokens[i] = (int) token;
    }
    if (signs < 0) {
      return UNUSABLE;
    } else if (wanted == 0 && hashes > 0) {
      return new TokenIds(tokens, false, Fit.SIZE_UNSTATED);
    } else if (count == wanted) {
      return new TokenIds(tokens, false, Fit.EXACT);
    }
    boolean oneTooMany = hashes == 1 && wanted > 0 && count == wanted + 1;
    return new TokenIds(tokens, false, oneTooMany ? Fit.ONE_TOO_MANY : Fit.UNUSABLE);
  }

  /** Neighbouring pairs share a token: [[a,b],[b,c]] is a b c. */
  private static TokenIds readPairs(MsgPackCursor cursor, int count, long wanted, boolean unsized) {
    int[] tokens = new int[count + 1];
    boolean usable = unsized || count == wanted;
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
    Fit fit = unsized ? Fit.SIZE_UNSTATED : Fit.EXACT;
    return new TokenIds(tokens, true, usable ? fit : Fit.UNUSABLE);
  }
}
