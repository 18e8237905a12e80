// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

/**
 * What a prompt says: no two texts share a block, and a longer beginning of one continues a
 * shorter.
 *
 * @param kind what it is for; texts of different kinds differ
 * @param run differs in every drill, so that nothing an earlier one left behind is found
 * @param owner engine or table it is of
 * @param number which one of these
 */
record Text(Kind kind, int run, int owner, int number) {

  /** Tokens in a block. */
  static final int BLOCK = 16;

  /** What texts are for. */
  enum Kind {
    /** Held by some engines from the first moment on. */
    PINNED,
    /** Grows by turns, and is evicted. */
    CONVERSATION,
    /** Grows by a block at a time; each block tells when it became visible. */
    MARKER,
    /** Never sent to anybody. */
    UNKNOWN
  }

  /**
   * Its beginning.
   *
   * @param blocks full blocks; half a block more follows, which never counts: an engine that finds
   *     a prompt whole would compute its last block again
   */
  int[] tokens(int blocks) {
    int[] tokens = new int[blocks * BLOCK + BLOCK / 2];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = i;
    }
    tokens[0] = kind.ordinal() << 16 | owner;
    tokens[1] = number;
    tokens[2] = run;
    return tokens;
  }
}
