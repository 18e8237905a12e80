// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import org.jspecify.annotations.Nullable;

/** Small questions about parts of keys. */
final class KeyText {

  private static final int LONG_DIGITS = 16;
  private static final int MAX_RANK_DIGITS = 6;

  private KeyText() {}

  /** Whether it is hex digits only, at least one. */
  static boolean isHex(String text) {
    return !text.isEmpty() && text.chars().allMatch(c -> Character.digit(c, 16) >= 0 && c < 128);
  }

  /** The last 8 bytes of a digest in hex, which is how vLLM makes integers of digests. */
  static long lastBytes(String hex) {
    return Long.parseUnsignedLong(hex.substring(Math.max(0, hex.length() - LONG_DIGITS)), 16);
  }

  /** The first 8 bytes of a digest in hex, which is how SGLang makes integers of digests. */
  static long firstBytes(String hex) {
    return Long.parseUnsignedLong(hex.substring(0, LONG_DIGITS), 16);
  }

  /** A rank or number of layers, null if it is none. */
  static @Nullable Integer number(String text) {
    boolean digits =
        !text.isEmpty()
            && text.length() <= MAX_RANK_DIGITS
            && text.chars().allMatch(c -> c >= '0' && c <= '9');
    return digits ? Integer.valueOf(text) : null;
  }

  /**
   * Whether a key's start names that model: equal, or equal after the last slash, with or without a
   * prefix before an {@code @}.
   */
  static boolean namesModel(String start, String model) {
    String last = model.substring(model.lastIndexOf('/') + 1);
    return start.equals(model)
        || start.equals(last)
        || start.endsWith("@" + model)
        || start.endsWith("@" + last)
        || start.endsWith("/" + last);
  }
}
