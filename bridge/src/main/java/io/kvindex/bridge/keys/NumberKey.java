// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import org.jspecify.annotations.Nullable;

/**
 * The block's hash itself, decimal or {@code 0x}, as Mooncake's own indexer wants keys. Source:
 * {@code mooncake-store/src/kv_event}.
 */
final class NumberKey implements KeyCodec {

  @Override
  public @Nullable ObjectKey parse(String key, String model) {
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
