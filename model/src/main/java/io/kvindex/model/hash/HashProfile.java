// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.util.Locale;
import java.util.Objects;

/**
 * How the blocks of a table get their prefix hash: an algorithm and its seed.
 *
 * @param algorithm the rule
 * @param seed seed as text, verbatim: an unsigned 64-bit decimal for the XXH3 rules, the engine's
 *     PYTHONHASHSEED text for the vLLM rules, empty where the rule has none
 */
public record HashProfile(Algorithm algorithm, String seed) {

  /** Hash rules. The {@link #code()} is stored: never renumber. */
  public enum Algorithm {
    /** RFC 1527: XXH3-64 of the tokens, rolled; LoRA and salt stay outside the hash. */
    XXH3(1),
    /** Dynamo: as XXH3 with LoRA and salt mixed into the seed of local hashes. */
    XXH3_DYNAMO(2),
    /** vLLM, {@code sha256_cbor}: the engine's own hash is the prefix hash. */
    VLLM_SHA256_CBOR(3),
    /** vLLM, {@code sha256} over pickle. */
    VLLM_SHA256(4),
    /** SGLang's SHA-256 page chain. */
    SGLANG_SHA256(5);

    private final int code;

    Algorithm(int code) {
      this.code = code;
    }

    /** Stable number in stored records, 1..127. */
    public int code() {
      return code;
    }

    /** Name in registrations and answers. */
    public String wireName() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The rule stored under {@code code}.
     *
     * @throws IllegalArgumentException if no version of kvindex knows that code
     */
    public static Algorithm byCode(int code) {
      for (Algorithm algorithm : values()) {
        if (algorithm.code == code) {
          return algorithm;
        }
      }
      throw new IllegalArgumentException("unknown hash profile code " + code);
    }
  }

  /** Seed of the standard: RFC 1527 and Dynamo both use it. */
  public static final String DEFAULT_XXH3_SEED = "1337";

  /** XXH3 with the standard seed, the default of every conductor registration. */
  public static final HashProfile XXH3_DEFAULT = new HashProfile(Algorithm.XXH3, DEFAULT_XXH3_SEED);

  public HashProfile {
    Objects.requireNonNull(algorithm);
    Objects.requireNonNull(seed);
    if (isXxh3(algorithm)) {
      seed = Long.toUnsignedString(Long.parseUnsignedLong(seed));
    }
  }

  /** XXH3 with the given seed, an unsigned 64-bit number. */
  public static HashProfile xxh3(long seed) {
    return new HashProfile(Algorithm.XXH3, Long.toUnsignedString(seed));
  }

  /**
   * The numeric seed of an XXH3 profile, as raw bits.
   *
   * @throws IllegalStateException for other algorithms
   */
  public long xxh3Seed() {
    if (!isXxh3(algorithm)) {
      throw new IllegalStateException(algorithm.wireName() + " has no XXH3 seed");
    }
    return Long.parseUnsignedLong(seed);
  }

  /** Name and seed in one word for logs and answers, {@code xxh3:1337}. */
  public String label() {
    return seed.isEmpty() ? algorithm.wireName() : algorithm.wireName() + ":" + seed;
  }

  private static boolean isXxh3(Algorithm algorithm) {
    return algorithm == Algorithm.XXH3 || algorithm == Algorithm.XXH3_DYNAMO;
  }
}
