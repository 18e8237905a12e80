// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import org.jspecify.annotations.Nullable;

/**
 * Prefix hashes of one prompt under one profile, block by block, so that a walk pays for no block
 * beyond the first nobody holds. Allocates nothing per block once its buffers have grown; reused
 * from prompt to prompt, by one thread at a time.
 */
public interface PromptHasher {

  /**
   * Begins a prompt.
   *
   * @param lora adapter, null or empty = base model; ignored by rules that do not cover it
   * @param salt request salt, null or empty = none; ignored by rules that do not cover it
   */
  void begin(@Nullable String lora, @Nullable String salt);

  /**
   * Hash of the prefix that ends with the next block; blocks are given in order.
   *
   * @param tokens ids as u32 bits
   * @param offset the block's first one
   * @param length tokens a block; a rule over pairs reads one more, see {@link #blocks}
   */
  long next(int[] tokens, int offset, int length);

  /** Complete blocks of a prompt. */
  default int blocks(int tokens, int blockSize) {
    return tokens / blockSize;
  }

  /** The rule of a profile. */
  static PromptHasher of(HashProfile profile) {
    return switch (profile.algorithm()) {
      case XXH3 -> new Xxh3PromptHasher(profile.xxh3Seed(), false);
      case XXH3_DYNAMO -> new Xxh3PromptHasher(profile.xxh3Seed(), true);
      case VLLM_SHA256_CBOR -> new VllmPromptHasher(new CborEncoding(), profile.seed());
      case VLLM_SHA256 -> new VllmPromptHasher(new PickleEncoding(), profile.seed());
      case SGLANG_SHA256 -> new SglangPromptHasher(profile.seed().equals(HashProfile.BIGRAM));
    };
  }
}
