// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.util.stream.IntStream;

/**
 * The state a query load runs against, computed instead of stored, and so its oracle too.
 *
 * <pre>
 * prompt = stem (>= 90 % of the blocks, one of {@code stems}, on every instance) + tail (its own)
 *
 * stem   even instances: all of it on the device
 *        odd instances:  device up to one of 16 places, host from there on  -> 16 owner sets change
 * tail   {@code tailHolders} instances, prefixes of that many different lengths, device and host in
 *        turn                                                               -> as many changes again
 * </pre>
 *
 * @param promptTokens tokens a prompt, a multiple of the block size
 * @param prompts distinct prompts
 * @param stems distinct stems
 * @param instances publishers, all of one model
 * @param tailHolders instances that hold something of a prompt's tail
 */
record LoadShape(int promptTokens, int prompts, int stems, int instances, int tailHolders) {
  static final int BLOCK_SIZE = 16;
  static final String MODEL = "load";

  /** Vocabulary of Llama 3, so that nearly all tokens have five or six digits. */
  static final int VOCABULARY = 128_256;

  private static final int PLACES = 16;
  private static final double SHARED = 0.9;
  private static final long STEM = 1L << 56;
  private static final long TAIL = 2L << 56;

  LoadShape {
    if (promptTokens % BLOCK_SIZE != 0 || promptTokens / BLOCK_SIZE < 2 * PLACES) {
      throw new IllegalArgumentException("prompt tokens: a multiple of 16 of at least 512");
    }
    if (tailHolders < 1 || tailHolders > instances || stems < 1 || stems > prompts) {
      throw new IllegalArgumentException("1 <= tail holders <= instances, 1 <= stems <= prompts");
    }
  }

  /** From {@code --tokens --prompts --stems --instances --tail-holders}. */
  static LoadShape of(LoadOptions options) {
    return new LoadShape(
        options.number("tokens", 4_096),
        options.number("prompts", 4_096),
        options.number("stems", 32),
        options.number("instances", 64),
        options.number("tail-holders", 8));
  }

  int promptBlocks() {
    return promptTokens / BLOCK_SIZE;
  }

  int stemBlocks() {
    return (int) Math.ceil(promptBlocks() * SHARED);
  }

  int tailBlocks() {
    return promptBlocks() - stemBlocks();
  }

  int stemOf(int prompt) {
    return prompt % stems;
  }

  long stemHash(int stem, int block) {
    return Mix.of(STEM | stem, block);
  }

  /** Hashes of a stem's first blocks. */
  long[] stem(int stem, int blocks) {
    return IntStream.range(0, blocks).mapToLong(block -> stemHash(stem, block)).toArray();
  }

  long tailHash(int prompt, int block) {
    return Mix.of(TAIL | prompt, block);
  }

  /** Any block's tokens follow from its engine hash, though the index never learns how. */
  static int token(long hash, int offset) {
    return Mix.below(VOCABULARY, Mix.of(hash, offset));
  }

  /** Blocks of a stem an instance has on the device; the others it has on the host. */
  int deviceBlocksOfStem(int stem, int instance) {
    if (instance % 2 == 0) {
      return stemBlocks();
    }
    int place = (instance / 2 + stem) % PLACES;
    return (place + 1) * stemBlocks() / (PLACES + 1);
  }

  /** Blocks of a prompt's tail an instance holds. */
  int tailBlocksHeld(int prompt, int instance) {
    int turn = Math.floorMod(instance - prompt / stems, instances);
    return turn >= tailHolders ? 0 : Math.max(1, (turn + 1) * tailBlocks() / tailHolders);
  }

  /** Whether it holds them on the device (else on the host). */
  boolean tailOnDevice(int prompt, int instance) {
    return (prompt / stems + instance) % 2 == 0;
  }

  /** Tokens {@code longest_matched} must say. */
  int longest(int prompt, int instance) {
    return (stemBlocks() + tailBlocksHeld(prompt, instance)) * BLOCK_SIZE;
  }

  /** Tokens {@code GPU} must say; {@code CPU} says the others of {@link #longest}. */
  int onDevice(int prompt, int instance) {
    int tail = tailOnDevice(prompt, instance) ? tailBlocksHeld(prompt, instance) : 0;
    return (deviceBlocksOfStem(stemOf(prompt), instance) + tail) * BLOCK_SIZE;
  }

  /**
   * Tokens a cursor that starts on the device has gone when it leaves it: from the prompt's start,
   * without a hole.
   */
  int throughDevice(int prompt, int instance) {
    int stem = deviceBlocksOfStem(stemOf(prompt), instance);
    return stem < stemBlocks() ? stem * BLOCK_SIZE : onDevice(prompt, instance);
  }

  /** Tokens it has gone when it leaves the host, from where it never goes back to the device. */
  int throughHost(int prompt, int instance) {
    boolean back =
        deviceBlocksOfStem(stemOf(prompt), instance) < stemBlocks()
            && tailOnDevice(prompt, instance);
    return back ? stemBlocks() * BLOCK_SIZE : longest(prompt, instance);
  }

  static String instanceName(int instance) {
    return "load-" + instance;
  }
}
