// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.nio.charset.StandardCharsets;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * Seed of the local hashes of a context in Dynamo: {@code base + XXH3(lora, 0) + XXH3(salt, 1)},
 * modulo 2^64, a term only where there is a name. Source: Dynamo, {@code lib/kv-router}, since
 * v1.5; v1.2 had the adapter's term only.
 */
public final class DynamoSeed {

  private static final LongHashFunction LORA = LongHashFunction.xx3(0);
  private static final LongHashFunction SALT = LongHashFunction.xx3(1);

  private DynamoSeed() {}

  /** The seed of adapter and salt; null and empty are none. */
  public static long of(long base, @Nullable String lora, @Nullable String salt) {
    return base + term(LORA, lora) + term(SALT, salt);
  }

  private static long term(LongHashFunction hash, @Nullable String text) {
    return text == null || text.isEmpty()
        ? 0
        : hash.hashBytes(text.getBytes(StandardCharsets.UTF_8));
  }
}
