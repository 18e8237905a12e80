// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import java.util.Arrays;
import java.util.Random;

/** Prompts that branch off each other at random depths, as conversations and templates do. */
final class PromptTree {

  private final long[][] prompts;
  private final Random random;

  PromptTree(int count, int maxDepth, Random random) {
    this.random = random;
    prompts = new long[count][];
    for (int p = 0; p < count; p++) {
      int length =
          p % 4 == 0
              ? maxDepth / 2 + random.nextInt(maxDepth / 2 + 1)
              : 1 + random.nextInt(maxDepth / 4);
      long[] prompt = new long[length];
      int shared = 0;
      if (p > 0) {
        long[] stem = prompts[random.nextInt(p)];
        shared = Math.min(length, random.nextInt(stem.length + 1));
        System.arraycopy(stem, 0, prompt, 0, shared);
      }
      for (int i = shared; i < length; i++) {
        prompt[i] = random.nextLong();
      }
      prompts[p] = prompt;
    }
    prompts[0][0] = 0;
  }

  long[] any() {
    return prompts[random.nextInt(prompts.length)];
  }

  /** A query: a prompt, often cut short or leaving the tree somewhere. */
  long[] query() {
    long[] prompt = any();
    int keep = random.nextInt(4) == 0 ? random.nextInt(prompt.length + 1) : prompt.length;
    long[] query = Arrays.copyOf(prompt, keep + random.nextInt(20));
    for (int i = keep; i < query.length; i++) {
      query[i] = random.nextLong();
    }
    return query;
  }
}
