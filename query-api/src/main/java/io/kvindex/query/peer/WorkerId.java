// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import java.nio.charset.StandardCharsets;
import net.openhft.hashing.LongHashFunction;

/**
 * Dynamo's number for an instance: an instance named by an unsigned 64-bit decimal has that number;
 * any other the 63 low bits of its name's XXH3-64 (seed 0), and its name beside it.
 */
final class WorkerId {

  private static final LongHashFunction HASH = LongHashFunction.xx3(0);

  private WorkerId() {}

  /** Whether the name is its number. */
  static boolean isNumber(String instance) {
    try {
      return Long.toUnsignedString(Long.parseUnsignedLong(instance)).equals(instance);
    } catch (NumberFormatException e) {
      return false;
    }
  }

  static long of(String instance) {
    return isNumber(instance)
        ? Long.parseUnsignedLong(instance)
        : HASH.hashBytes(instance.getBytes(StandardCharsets.UTF_8)) & Long.MAX_VALUE;
  }
}
