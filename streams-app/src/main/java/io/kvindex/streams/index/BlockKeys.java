// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

/**
 * Rolling hashes of a prompt's blocks, made when the walk asks for them: what lies behind the first
 * block nobody holds is never hashed.
 */
@FunctionalInterface
public interface BlockKeys {

  /**
   * Writes the rolling hashes of blocks {@code from}, {@code from + 1}... to {@code out[0]}, {@code
   * out[1]}...; called with ascending, gapless {@code from}.
   *
   * @param out room for at least {@code max}
   * @param from position of the first block asked for
   * @param max how many at most, at least 1
   * @return how many were written; fewer than {@code max} only at the end of the prompt
   */
  int fill(long[] out, int from, int max);

  /**
   * The hashes to look up in one of the contexts of a walk: others than elsewhere where the hash
   * covers part of the context. All have the same number of blocks.
   *
   * @param context index of the context in the walk
   * @return by default, this: the same hashes in all
   */
  default BlockKeys in(int context) {
    return this;
  }

  /**
   * Whether a context may be left out of the rest of the walk where nobody holds its first block:
   * hashes by another rule, which an owner's blocks are all in or none. Never the first context.
   *
   * @param context index of the context in the walk
   * @return by default, false
   */
  default boolean isOptional(int context) {
    return false;
  }
}
