// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import org.jspecify.annotations.Nullable;

/**
 * Request salts as clients state them. Dynamo hands a salt to its engines behind a marker; its own
 * queries, and those of everybody else, have it without: with and without it is one salt. Source:
 * Dynamo, {@code lib/llm/src/kv_router}, 1.6.
 */
public final class CacheSalt {

  /** What Dynamo writes before a salt it hands to an engine. */
  public static final String DYNAMOS_MARKER = "dynamo-cache-salt:";

  private CacheSalt() {}

  /** The salt itself; null, empty and a marker with nothing behind it stay what they are. */
  public static @Nullable String plain(@Nullable String salt) {
    return salt != null && isMarked(salt) ? salt.substring(DYNAMOS_MARKER.length()) : salt;
  }

  /** Whether a salt stands behind Dynamo's marker. */
  public static boolean isMarked(String text) {
    return text.startsWith(DYNAMOS_MARKER) && !text.equals(DYNAMOS_MARKER);
  }
}
