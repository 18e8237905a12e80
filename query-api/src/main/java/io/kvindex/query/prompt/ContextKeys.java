// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.query.prompt.Contexts.Names;
import io.kvindex.streams.index.BlockKeys;
import java.util.ArrayList;
import java.util.List;

/**
 * The prefix hashes of one prompt under a rule that covers adapter or salt: another chain for each
 * context. Made as the walk asks for them; reused; one thread at a time.
 */
final class ContextKeys implements BlockKeys {
  private final HashProfile profile;
  private final List<Chain> chains = new ArrayList<>();

  ContextKeys(HashProfile profile) {
    this.profile = profile;
  }

  ContextKeys ofTokens(int[] ids, int count, int blockSize, List<Names> contexts) {
    while (chains.size() < contexts.size()) {
      chains.add(new Chain(PromptHasher.of(profile)));
    }
    for (int i = 0; i < contexts.size(); i++) {
      chains.get(i).begin(ids, count, blockSize, contexts.get(i));
    }
    return this;
  }

  @Override
  public BlockKeys in(int context) {
    return chains.get(context);
  }

  @Override
  public int fill(long[] out, int from, int max) {
    return chains.get(0).fill(out, from, max);
  }

  private static final class Chain implements BlockKeys {
    private final PromptHasher hasher;
    private int[] tokens = {};
    private int blockSize;
    private int blocks;

    Chain(PromptHasher hasher) {
      this.hasher = hasher;
    }

    void begin(int[] ids, int count, int size, Names names) {
      tokens = ids;
      blockSize = size;
      blocks = hasher.blocks(count, size);
      hasher.begin(names.lora(), names.salt());
    }

    @Override
    public int fill(long[] out, int from, int max) {
      int count = Math.min(max, blocks - from);
      for (int i = 0; i < count; i++) {
        out[i] = hasher.next(tokens, (from + i) * blockSize, blockSize);
      }
      return count;
    }
  }
}
