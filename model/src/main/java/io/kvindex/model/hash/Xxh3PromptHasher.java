// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import org.jspecify.annotations.Nullable;

/** The RFC's rolled XXH3, and Dynamo's, which differs in the seed of the local hashes only. */
final class Xxh3PromptHasher implements PromptHasher {

  private final long seed;
  private final boolean seedsByContext;
  private final boolean pairs;
  private final SeqHash chain;
  private final long[] scratch = new long[2];
  private SeqHash local;
  private long previous;
  private boolean first = true;

  /**
   * @param pairs whether blocks consist of pairs of neighbours, see {@link PromptHasher#ofPairs}
   */
  Xxh3PromptHasher(HashProfile profile, boolean pairs) {
    this.seed = profile.xxh3Seed();
    this.seedsByContext = profile.algorithm() == HashProfile.Algorithm.XXH3_DYNAMO;
    this.pairs = pairs;
    this.chain = new SeqHash(seed);
    this.local = chain;
  }

  @Override
  public void begin(@Nullable String lora, @Nullable String salt) {
    first = true;
    long own = seedsByContext ? DynamoSeed.of(seed, lora, salt) : seed;
    local = own == seed ? chain : new SeqHash(own);
  }

  @Override
  public int blocks(int tokens, int blockSize) {
    return pairs ? Math.max(0, tokens - 1) / blockSize : tokens / blockSize;
  }

  @Override
  public long next(int[] tokens, int offset, int length) {
    long block = local.local(tokens, offset, pairs ? length + 1 : length);
    previous = first ? block : chain.roll(previous, block, scratch);
    first = false;
    return previous;
  }
}
