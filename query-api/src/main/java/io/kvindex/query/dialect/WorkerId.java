// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dialect;

import java.nio.charset.StandardCharsets;
import net.openhft.hashing.LongHashFunction;

/**
 * Dynamo's number for an instance: an instance named by an unsigned 64-bit decimal has that number;
 * any other the 63 low bits of its name's XXH3-64 (seed 0).
 */
public final class WorkerId {
  private static final LongHashFunction HASH = LongHashFunction.xx3(0);
  private static final int MAX_DIGITS = 20;

  private WorkerId() {}

  /** Whether the name is its number. */
  public static boolean isNumber(String instance) {
    if (instance.length() > MAX_DIGITS || !instance.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return false;
    }
    try {
      return Long.toUnsignedString(Long.parseUnsignedLong(instance)).equals(instance);
    } catch (NumberFormatException e) {
      return false;
    }
  }

  /** The number, unsigned. */
  public static long of(String instance) {
    return isNumber(instance)
        ? Long.parseUnsignedLong(instance)
        : HASH.hashBytes(instance.getBytes(StandardCharsets.UTF_8)) & Long.MAX_VALUE;
  }
}
