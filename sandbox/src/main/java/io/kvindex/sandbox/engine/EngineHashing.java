// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/** How the engine names its blocks. */
public enum EngineHashing {
  /** vLLM's {@code sha256_cbor} chain; the wire hash is the digest's last 8 bytes. */
  VLLM_SHA256_CBOR,
  /** vLLM's {@code sha256} chain, the same over pickle. */
  VLLM_SHA256,
  /** SGLang's SHA-256 chain; the wire hash is the digest's first 8 bytes. */
  SGLANG_SHA256,
  /** A random number for each distinct prefix, always the same one while the engine lives. */
  RANDOM;

  /**
   * A hasher with its own state; not thread-safe.
   *
   * @param seed matters to {@link #RANDOM} only
   * @param pythonHashSeed matters to vLLM's only
   */
  BlockHasher hasher(long seed, String pythonHashSeed) {
    return switch (this) {
      case VLLM_SHA256_CBOR -> new VllmHasher(pythonHashSeed);
      case VLLM_SHA256 -> new VllmPickleHasher(pythonHashSeed);
      case SGLANG_SHA256 -> new SglangHasher();
      case RANDOM -> new RandomHasher(seed);
    };
  }
}
