// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.model.hash.SeqHash;
import io.kvindex.streams.index.BlockKeys;
import org.jspecify.annotations.Nullable;

/**
 * The rolling hashes of one prompt: given ones, or made from its tokens as the walk asks for them.
 * Only complete blocks count. Reused; one thread at a time.
 */
final class PromptKeys implements BlockKeys {
  private final long[] pair = new long[2];
  private @Nullable SeqHash hash;
  private boolean local;
  private int[] tokens = {};
  private long[] given = {};
  private int blockSize;
  private int blocks;
  private long previous;

  PromptKeys ofTokens(int[] ids, int count, int size, SeqHash rule) {
    tokens = ids;
    blockSize = size;
    blocks = count / size;
    hash = rule;
    local = false;
    return this;
  }

  PromptKeys ofHashes(long[] hashes, int count) {
    given = hashes;
    blocks = count;
    hash = null;
    return this;
  }

  /** The given ones are those of single blocks and have to be rolled. */
  PromptKeys ofLocals(long[] locals, int count, SeqHash rule) {
    given = locals;
    blocks = count;
    hash = rule;
    local = true;
    return this;
  }

  @Override
  public int fill(long[] out, int from, int max) {
    int count = Math.min(max, blocks - from);
    SeqHash rule = hash;
    if (rule == null) {
      System.arraycopy(given, from, out, 0, Math.max(0, count));
      return count;
    }
    for (int i = 0; i < count; i++) {
      int block = from + i;
      long own = local ? given[block] : rule.local(tokens, block * blockSize, blockSize);
      previous = block == 0 ? own : rule.roll(previous, own, pair);
      out[i] = previous;
    }
    return count;
  }
}
