// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * vLLM v1: {@code digest = SHA-256(encode(parent digest, tokens, extra keys or None))}; the parent
 * of a first block is the digest of the seed text. Extra keys are the adapter's name on every block
 * and then the salt on the first; other kinds (multimodal input, prompt embeddings) no query can
 * state. The hash is the digest's last 8 bytes, big-endian, as on the wire. Source: vLLM, {@code
 * vllm/v1/core/kv_cache_utils.py}, since v0.10.2.
 */
final class VllmPromptHasher implements PromptHasher {

  private static final byte[][] NO_KEYS = {};

  private final VllmEncoding encoding;
  private final Sha256 sha256 = new Sha256();
  private final byte[] root = new byte[Sha256.LENGTH];
  private final byte[] digest = new byte[Sha256.LENGTH];
  private byte[][] keys = NO_KEYS;
  private byte[][] laterKeys = NO_KEYS;

  VllmPromptHasher(VllmEncoding encoding, String seed) {
    this.encoding = encoding;
    encoding.seed(seed.getBytes(StandardCharsets.UTF_8));
    sha256.of(encoding.encoded(), root);
    begin(null, null);
  }

  @Override
  public void begin(@Nullable String lora, @Nullable String salt) {
    System.arraycopy(root, 0, digest, 0, root.length);
    laterKeys = utf8(lora, null);
    keys = utf8(lora, salt);
  }

  private static byte[][] utf8(@Nullable String lora, @Nullable String salt) {
    List<byte[]> keys = new ArrayList<>(2);
    if (lora != null && !lora.isEmpty()) {
      keys.add(lora.getBytes(StandardCharsets.UTF_8));
    }
    if (salt != null && !salt.isEmpty()) {
      keys.add(salt.getBytes(StandardCharsets.UTF_8));
    }
    return keys.isEmpty() ? NO_KEYS : keys.toArray(NO_KEYS);
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
