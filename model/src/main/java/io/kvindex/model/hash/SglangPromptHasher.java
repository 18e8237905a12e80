// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's pages: {@code digest = SHA-256(digest before, tokens as u32 little-endian)}; a salted
 * prompt starts from a digest of its salt, any other from nothing. With speculative decoding each
 * token is hashed with its successor, so a page of n pairs spans n + 1 tokens. The hash is the
 * digest's first 8 bytes, as on the wire. Source: SGLang, {@code srt/mem_cache/hicache_storage.py}
 * and {@code srt/disaggregation/kv_events.py}, September 2026.
 */
final class SglangPromptHasher implements PromptHasher {

  private static final byte[] SALT_DOMAIN =
      "sglang-cache-salt-v1\0".getBytes(StandardCharsets.US_ASCII);

  private final boolean bigram;
  private final Sha256 sha256 = new Sha256();
  private final ByteSink page = new ByteSink();
  private final byte[] digest = new byte[Sha256.LENGTH];
  private boolean hasParent;

  SglangPromptHasher(boolean bigram) {
    this.bigram = bigram;
  }

  @Override
  public int blocks(int tokens, int blockSize) {
    return bigram ? Math.max(0, tokens - 1) / blockSize : tokens / blockSize;
  }

  @Override
  public void begin(@Nullable String lora, @Nullable String salt) {
    hasParent = salt != null && !salt.isEmpty();
    if (salt != null && hasParent) {
      byte[] text = salt.getBytes(StandardCharsets.UTF_8);
      page.clear();
      page.put(SALT_DOMAIN, SALT_DOMAIN.length);
      page.put(text, text.length);
      sha256.of(page, digest);
    }
  }

  @Override
  public long next(int[] tokens, int offset, int length) {
    page.clear();
    if (hasParent) {
      page.put(digest, digest.length);
    }
    for (int i = offset; i < offset + length; i++) {
      page.putIntLe(tokens[i]);
      if (bigram) {
        page.putIntLe(tokens[i + 1]);
      }
    }
    sha256.of(page, digest);
    hasParent = true;
    return ByteSink.longBe(digest, 0);
  }

  /** The whole digest of the page last hashed; not a copy. */
  byte[] digest() {
    return digest;
  }
}
