// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * vLLM v1: {@code digest = SHA-256(encode(parent digest, tokens, extra keys or None))}; the parent
 * of a first block is the digest of the seed text. Extra keys are the adapter on every block and
 * then the salt on the first; other kinds (multimodal input, prompt embeddings) no query can state.
 * Up to v0.31 they are the bare name and the bare salt, since v0.32 {@code ("lora", name, path)}
 * and {@code ("cache_salt", salt)}; the events' {@code extra_keys} stay bare. The hash is the
 * digest's last 8 bytes, big-endian, as on the wire. Source: vLLM, {@code
 * vllm/v1/core/kv_cache_utils.py}, since v0.10.2.
 */
final class VllmPromptHasher implements PromptHasher {

  private static final byte[][][] NO_KEYS = {};
  private static final byte[] LORA_TAG = utf8("lora");
  private static final byte[] SALT_TAG = utf8("cache_salt");

  private final VllmEncoding encoding;
  private final Sha256 sha256 = new Sha256();
  private final byte[] root = new byte[Sha256.LENGTH];
  private final byte[] digest = new byte[Sha256.LENGTH];
  private byte[][][] keys = NO_KEYS;
  private byte[][][] laterKeys = NO_KEYS;

  VllmPromptHasher(VllmEncoding encoding, String seed) {
    this.encoding = encoding;
    encoding.seed(seed.getBytes(StandardCharsets.UTF_8));
    sha256.of(encoding.encoded(), root);
    beginWith(null, null);
  }

  @Override
  public void begin(@Nullable String lora, @Nullable String salt) {
    beginWith(
        lora == null || lora.isEmpty() ? null : new byte[][] {utf8(lora)},
        salt == null || salt.isEmpty() ? null : new byte[][] {utf8(salt)});
  }

  @Override
  public void beginTagged(@Nullable String lora, @Nullable String loraPath, @Nullable String salt) {
    beginWith(
        lora == null || lora.isEmpty()
            ? null
            : new byte[][] {LORA_TAG, utf8(lora), utf8(loraPath == null ? "" : loraPath)},
        salt == null || salt.isEmpty() ? null : new byte[][] {SALT_TAG, utf8(salt)});
  }

  private void beginWith(byte @Nullable [][] lora, byte @Nullable [][] salt) {
    System.arraycopy(root, 0, digest, 0, root.length);
    laterKeys = lora == null ? NO_KEYS : new byte[][][] {lora};
    keys =
        salt == null
            ? laterKeys
            : lora == null ? new byte[][][] {salt} : new byte[][][] {lora, salt};
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public long next(int[] tokens, int offset, int length) {
    encoding.block(digest, tokens, offset, length, keys);
    sha256.of(encoding.encoded(), digest);
    keys = laterKeys;
    return ByteSink.longBe(digest, Sha256.LENGTH - Long.BYTES);
  }

  /** The whole digest of the block last hashed, of the root before the first one; not a copy. */
  byte[] digest() {
    return digest;
  }
}
