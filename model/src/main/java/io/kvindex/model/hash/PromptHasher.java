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
   * Begins a prompt as engines do that hash names with their kind: vLLM since 0.32. Without adapter
   * and salt it is {@link #begin}, and so it is for rules that know one way only.
   *
   * @param lora adapter, null or empty = base model
   * @param loraPath where the engine loaded the adapter from; of no account without one
   * @param salt request salt, null or empty = none
   */
  default void beginTagged(
      @Nullable String lora, @Nullable String loraPath, @Nullable String salt) {
    begin(lora, salt);
  }

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
      case XXH3, XXH3_DYNAMO -> new Xxh3PromptHasher(profile, false);
      case VLLM_SHA256_CBOR -> new VllmPromptHasher(new CborEncoding(), profile.seed());
      case VLLM_SHA256 -> new VllmPromptHasher(new PickleEncoding(), profile.seed());
      case SGLANG_SHA256 -> new SglangPromptHasher(profile.seed().equals(HashProfile.BIGRAM));
    };
  }

  /**
   * The rule by which blocks of pairs are indexed (engines that decode speculatively and so name
   * each token with its successor): a block of n pairs is hashed over its n + 1 tokens, as Dynamo
   * does. No block of n tokens has such a hash.
   *
   * @param profile one with an XXH3 rule
   */
  static PromptHasher ofPairs(HashProfile profile) {
    return new Xxh3PromptHasher(profile, true);
  }
}
