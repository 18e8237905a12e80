// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.model.hash.SeqHash;
import io.kvindex.streams.index.BlockKeys;
import org.jspecify.annotations.Nullable;

/**
 * The rolling hashes of one prompt as given, or rolled from those of single blocks. Reused; one
 * thread at a time.
 */
final class PromptKeys implements BlockKeys {
  private final long[] pair = new long[2];
  private @Nullable SeqHash hash;
  private long[] given = {};
  private int blocks;
  private long previous;

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
      previous = block == 0 ? given[block] : rule.roll(previous, given[block], pair);
      out[i] = previous;
    }
    return count;
  }
}
