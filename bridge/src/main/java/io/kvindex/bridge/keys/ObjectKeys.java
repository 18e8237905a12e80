// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import org.jspecify.annotations.Nullable;

/** Reads keys of all producers we know. Stateless; safe for all threads. */
public final class ObjectKeys {

  /** Longer ones are no keys: none of the producers makes them, and reading costs time. */
  private static final int MAX_LENGTH = 4096;

  private ObjectKeys() {}

  /** Whether two names mean one model: equal, or equal after the last slash. */
  public static boolean sameModel(String name, String model) {
    return KeyText.namesModel(name, model);
  }

  /**
   * Reads a key. Each producer's is read from the right, because names of models may hold every
   * separator; what a producer does not make is null to its reader.
   *
   * @param model the registered model
   * @return null if no producer we know makes such keys
   */
  public static @Nullable ObjectKey parse(String key, String model) {
    if (key.length() > MAX_LENGTH) {
      return null;
    }
    ObjectKey parsed = parseNumber(key);
    parsed = parsed == null ? VllmKey.parse(key, model) : parsed;
    parsed = parsed == null ? HiCacheKey.parse(key, model) : parsed;
    return parsed == null ? LmCacheKey.parse(key, model) : parsed;
  }

  /**
   * The block's hash itself, decimal or {@code 0x}, as Mooncake's own indexer wants keys. Source:
   * {@code mooncake-store/src/kv_event}.
   */
  private static @Nullable ObjectKey parseNumber(String key) {
    try {
      if (key.startsWith("0x") || key.startsWith("0X")) {
        String digits = key.substring(2);
        return KeyText.isHex(digits) ? ObjectKey.whole(Long.parseUnsignedLong(digits, 16)) : null;
      }
      boolean decimal = !key.isEmpty() && key.chars().allMatch(c -> c >= '0' && c <= '9');
      return decimal ? ObjectKey.whole(Long.parseUnsignedLong(key)) : null;
    } catch (NumberFormatException e) {
      return null; // beyond 64 bits
    }
  }
}
