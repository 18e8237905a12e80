// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * The part of a context that lives in the lookup key: LoRA adapter, namespace and request salt
 * folded into 64 bits. The lookup key of a block is {@code seqHash ^ contextHash}; the plain
 * context hashes to 0, so there key and rolling hash are the same.
 *
 * <p>Blocks of different contexts have different keys up to a 64-bit collision, as rolling hashes
 * themselves have.
 */
public final class ContextHash {

  /** No adapter, no namespace, no salt. */
  public static final long NONE = 0;

  private static final LongHashFunction HASH = LongHashFunction.xx3(0x6b76696e646578L);

  private ContextHash() {}

  /** Folds the three names; null and empty are the same. */
  public static long of(@Nullable String lora, @Nullable String namespace, @Nullable String salt) {
    if (isNone(lora) && isNone(namespace) && isNone(salt)) {
      return NONE;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);
    append(bytes, lora);
    append(bytes, namespace);
    append(bytes, salt);
    return HASH.hashBytes(bytes.toByteArray());
  }

  /**
   * The context below a block whose hash covers more than tokens, adapter and salt (multimodal
   * input, prompt embeddings): everything from there on lives apart.
   *
   * @param extraHash hash of the extra keys, 0 = none
   */
  public static long withExtra(long context, long extraHash) {
    return extraHash == 0 ? context : HASH.hashLongs(new long[] {context, extraHash});
  }

  private static boolean isNone(@Nullable String text) {
    return text == null || text.isEmpty();
  }

  private static void append(ByteArrayOutputStream out, @Nullable String text) {
    byte[] bytes = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    out.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
    out.writeBytes(bytes);
  }
}
