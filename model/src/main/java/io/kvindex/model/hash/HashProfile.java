// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How the blocks of a table get their prefix hash: an algorithm and its seed.
 *
 * @param algorithm the rule
 * @param seed seed as text, verbatim: an unsigned 64-bit decimal for the XXH3 rules, the text vLLM
 *     hashes for its root (PYTHONHASHSEED where that is set) for the vLLM rules; for SGLang empty,
 *     or {@value #BIGRAM} where the engine hashes tokens in pairs
 */
public record HashProfile(Algorithm algorithm, String seed) {

  /** Hash rules. The {@link #code()} is stored: never renumber. */
  public enum Algorithm {
    /** RFC 1527: XXH3-64 of the tokens, rolled; LoRA and salt stay outside the hash. */
    XXH3(1, false, false, false),
    /** Dynamo: as XXH3 with LoRA and salt mixed into the seed of local hashes. */
    XXH3_DYNAMO(2, false, true, true),
    /** vLLM, {@code sha256_cbor}: the engine's own hash is the prefix hash. */
    VLLM_SHA256_CBOR(3, true, true, true),
    /** vLLM, {@code sha256} over pickle. */
    VLLM_SHA256(4, true, true, true),
    /** SGLang's SHA-256 page chain, which knows salts and no adapters. */
    SGLANG_SHA256(5, true, false, true);

    private final int code;
    private final boolean engineNamed;
    private final boolean coversLora;
    private final boolean coversSalt;

    Algorithm(int code, boolean engineNamed, boolean coversLora, boolean coversSalt) {
      this.code = code;
      this.engineNamed = engineNamed;
      this.coversLora = coversLora;
      this.coversSalt = coversSalt;
    }

    /**
     * Whether the engine's own hash of a block is its prefix hash, so that neither its tokens nor
     * its parent need be known.
     */
    public boolean isEngineNamed() {
      return engineNamed;
    }

    /** Whether the prefix hash covers the adapter's name. */
    public boolean coversLora() {
      return coversLora;
    }

    /** Whether the prefix hash covers the request salt. */
    public boolean coversSalt() {
      return coversSalt;
    }

    /** Whether the prefix hash covers whatever else a block's content depends on. */
    public boolean coversExtraKeys() {
      return this == VLLM_SHA256_CBOR || this == VLLM_SHA256;
    }

    /** The seed of registrations that name none. */
    public String defaultSeed() {
      return switch (this) {
        case XXH3, XXH3_DYNAMO -> DEFAULT_XXH3_SEED;
        case VLLM_SHA256_CBOR, VLLM_SHA256 -> DEFAULT_VLLM_SEED;
        case SGLANG_SHA256 -> "";
      };
    }

    /** The rule of that {@link #wireName()}, case ignored. */
    public static Optional<Algorithm> byWireName(String name) {
      for (Algorithm algorithm : values()) {
        if (algorithm.name().equalsIgnoreCase(name)) {
          return Optional.of(algorithm);
        }
      }
      return Optional.empty();
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

  /**
   * What vLLM hashes for its root since #51875 (August 2026) unless PYTHONHASHSEED is set; before
   * that the root is random without it.
   */
  public static final String DEFAULT_VLLM_SEED = "vllm-none-hash";

  /** Seed text for SGLang engines that decode speculatively and so hash tokens in pairs. */
  public static final String BIGRAM = "bigram";

  private static final HashProfile BY_TOKENS =
      new HashProfile(Algorithm.XXH3_DYNAMO, DEFAULT_XXH3_SEED);

  /** XXH3 with the standard seed, the default of every conductor registration. */
  public static final HashProfile XXH3_DEFAULT = new HashProfile(Algorithm.XXH3, DEFAULT_XXH3_SEED);

  public HashProfile {
    Objects.requireNonNull(algorithm);
    Objects.requireNonNull(seed);
    seed =
        switch (algorithm) {
          case XXH3, XXH3_DYNAMO -> Long.toUnsignedString(Long.parseUnsignedLong(seed));
          case VLLM_SHA256_CBOR, VLLM_SHA256 -> {
            require(!seed.isEmpty(), "a vLLM profile has a seed text");
            yield seed;
          }
          case SGLANG_SHA256 -> {
            require(seed.isEmpty() || seed.equals(BIGRAM), "SGLang hashes have no seed");
            yield seed;
          }
        };
  }

  private static void require(boolean holds, String rule) {
    if (!holds) {
      throw new IllegalArgumentException(rule);
    }
  }

  /** An algorithm with the seed of registrations that name none. */
  public static HashProfile of(Algorithm algorithm) {
    return new HashProfile(algorithm, algorithm.defaultSeed());
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

  /**
   * The rule for blocks that are indexed by what their tokens say. Under a rule of an engine these
   * are blocks whose names that rule does not explain (another seed or algorithm than the
   * registered one, an adapter in the name that no event tells): then Dynamo's rule with the
   * standard seed, which covers adapter and salt. Else this rule.
   */
  public HashProfile byTokens() {
    return algorithm.isEngineNamed() ? BY_TOKENS : this;
  }

  /**
   * What is xored into a prefix hash to make its lookup key: those of the names that the hash does
   * not cover itself. Blocks whose adapter or salt is in their hash thus have one key whether or
   * not an event says either again.
   *
   * @param lora adapter, null or empty = base model
   * @param namespace deployment salt, null or empty = none
   * @param salt request salt, null or empty = none
   */
  public long context(@Nullable String lora, @Nullable String namespace, @Nullable String salt) {
    return ContextHash.of(
        algorithm.coversLora() ? null : lora, namespace, algorithm.coversSalt() ? null : salt);
  }

  /**
   * The digest vLLM begins every chain with, as lower-case hex digits.
   *
   * @throws IllegalStateException for the rules of others
   */
  public String vllmRootDigest() {
    if (PromptHasher.of(this) instanceof VllmPromptHasher hasher) {
      return HexFormat.of().formatHex(hasher.digest());
    }
    throw new IllegalStateException(algorithm.wireName() + " has no root digest");
  }

  /** Name and seed in one word for logs and answers, {@code xxh3:1337}. */
  public String label() {
    return seed.isEmpty() ? algorithm.wireName() : algorithm.wireName() + ":" + seed;
  }

  private static boolean isXxh3(Algorithm algorithm) {
    return algorithm == Algorithm.XXH3 || algorithm == Algorithm.XXH3_DYNAMO;
  }
}
