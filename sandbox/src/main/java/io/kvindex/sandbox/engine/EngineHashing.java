// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import org.jspecify.annotations.Nullable;

/** How the engine names its blocks. */
public enum EngineHashing {
  /** vLLM's {@code sha256_cbor} chain; the wire hash is the digest's last 8 bytes. */
  VLLM_SHA256_CBOR(Algorithm.VLLM_SHA256_CBOR),
  /** vLLM's {@code sha256} chain, the same over pickle. */
  VLLM_SHA256(Algorithm.VLLM_SHA256),
  /** SGLang's SHA-256 chain; the wire hash is the digest's first 8 bytes. */
  SGLANG_SHA256(Algorithm.SGLANG_SHA256),
  /**
   * A random number for each distinct prefix, always the same one while the engine lives: proof
   * that an index does not lean on the engine's hashes.
   */
  RANDOM(null);

  private final @Nullable Algorithm algorithm;

  EngineHashing(@Nullable Algorithm algorithm) {
    this.algorithm = algorithm;
  }

  /**
   * Names of the blocks of a prompt, in order; null where they have no relation to content.
   *
   * @param pythonHashSeed matters to vLLM's only
   */
  @Nullable PromptHasher hasher(String pythonHashSeed) {
    if (algorithm == null) {
      return null;
    }
    boolean seeded = this != SGLANG_SHA256;
    return PromptHasher.of(new HashProfile(algorithm, seeded ? pythonHashSeed : ""));
  }
}
