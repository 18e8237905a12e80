// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.trace;

/**
 * Token ids for a trace's hash ids: the same id gives the same tokens, in every run and on every
 * machine, for one seed. SplitMix64 (Steele, Lea, Flood, 2014) started from seed and id. Immutable,
 * thread-safe.
 */
public final class TraceTokens {
  /** Token ids are below this: about the vocabulary of Llama 3. */
  public static final int VOCABULARY = 128_000;

  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private final long seed;

  /** Another seed gives other prompts with the same sharing. */
  public TraceTokens(long seed) {
    this.seed = seed;
  }

  /** The tokens every reader gets unless it asks for others. */
  public static TraceTokens standard() {
    return new TraceTokens(0);
  }

  /** Writes the first {@code to - from} tokens of {@code hashId} to {@code tokens[from..to)}. */
  void fill(int hashId, int[] tokens, int from, int to) {
    long state = mix(seed ^ mix(hashId + GOLDEN_GAMMA));
    for (int i = from; i < to; i++) {
      state += GOLDEN_GAMMA;
      // Upper 32 bits scaled to the vocabulary: no division, bias below 2^-15.
      tokens[i] = (int) (((mix(state) >>> 32) * VOCABULARY) >>> 32);
    }
  }

  private static long mix(long z) {
    long a = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    long b = (a ^ (a >>> 27)) * 0x94d049bb133111ebL;
    return b ^ (b >>> 31);
  }
}
