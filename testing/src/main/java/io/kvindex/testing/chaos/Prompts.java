// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.testing.chaos.Prompt.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Prompts whose tokens say who may ever have cached them: those of one life of one engine share no
 * block with anybody else's, so a hit on one of a dead life is a ghost for certain.
 */
final class Prompts {

  /** Tokens in a block. */
  static final int BLOCK = 16;

  /** Prompts of a life. */
  static final int OWN = 12;

  private static final int SHARED = 24;
  private static final int GROUP = 4;
  private static final int COMMON_BLOCKS = 12;
  private static final int MAX_OWN_BLOCKS = 34;
  private static final int MARKER_BLOCKS = 2;
  private static final int LIVES = 4_096;

  private Prompts() {}

  /** What a life of an engine computes and nobody else: groups that share their beginning. */
  static List<Prompt> own(int engine, int life, List<Context> contexts, long seed) {
    Random random = new Random(seed * 31 + engine * LIVES + life);
    List<Prompt> prompts = new ArrayList<>();
    for (int k = 0; k < OWN; k++) {
      int blocks = COMMON_BLOCKS + 1 + random.nextInt(MAX_OWN_BLOCKS);
      // A tail that fills no block, mostly: it must not count.
      int[] tokens = new int[blocks * BLOCK + random.nextInt(BLOCK)];
      for (int i = 0; i < tokens.length; i++) {
        int branch = i < COMMON_BLOCKS * BLOCK ? k / GROUP : OWN + k;
        tokens[i] = tag(engine, life) + (branch << 10) + i;
      }
      Context context = contexts.get(k % contexts.size());
      String name = "engine " + engine + " life " + life + " prompt " + k;
      prompts.add(new Prompt(name, tokens, context.lora(), context.salt()));
    }
    return prompts;
  }

  /** A prompt that was never sent before. */
  static Prompt marker(int engine, int life, int nonce) {
    int[] tokens = new int[MARKER_BLOCKS * BLOCK];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = tag(engine, life) + (63 << 10) + i;
    }
    tokens[0] = nonce;
    return new Prompt("marker " + nonce, tokens, null, null);
  }

  /** Some prompts of a tree that all engines are asked for. */
  static List<Prompt> shared(long seed) {
    Random random = new Random(seed);
    List<Prompt> prompts = new ArrayList<>();
    for (int k = 0; k < SHARED; k++) {
      int levels = 1 + random.nextInt(8);
      int[] tokens = new int[levels * 6 * BLOCK];
      int path = 0;
      for (int i = 0; i < tokens.length; i++) {
        path = i % (6 * BLOCK) == 0 ? path * 3 + random.nextInt(3) + 1 : path;
        tokens[i] = path * 1_000 + i % (6 * BLOCK);
      }
      prompts.add(new Prompt("shared prompt " + k, tokens, null, null));
    }
    return prompts;
  }

  /** Above all tokens of the shared tree; unsigned. */
  private static int tag(int engine, int life) {
    return 1 << 31 | (engine & 15) << 27 | (life % 2_048) << 16;
  }
}
