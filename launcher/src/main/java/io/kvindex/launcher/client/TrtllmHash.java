// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.util.Locale;

/**
 * TensorRT-LLM's names of blocks as 64 bits: integers ({@code v1_block_key}, {@code v2_sha256_64})
 * as they are, the hex digits of a SHA-256 ({@code v2_sha256}) by its first eight bytes, which is
 * what {@code v2_sha256_64} sends of the same block. Source: TensorRT-LLM, {@code
 * tensorrt_llm/runtime/kv_cache_hash.py}.
 */
final class TrtllmHash {

  /** Digits of the largest unsigned 64-bit number; a text of more is none. */
  private static final int DECIMAL_DIGITS = 20;

  private static final int HEX_DIGITS = 16;
  private static final int HEX = 16;

  private TrtllmHash() {}

  /**
   * Reads a block's name.
   *
   * @param member for the message
   * @throws UnreadableEvent if it is neither an integer of 64 bits nor hex digits
   */
  static long of(JsonNode node, String member) throws UnreadableEvent {
    if (node.isIntegralNumber()) {
      BigInteger value = node.bigIntegerValue();
      if (value.bitLength() <= (value.signum() < 0 ? Long.SIZE - 1 : Long.SIZE)) {
        return value.longValue();
      }
    } else if (node.isTextual()) {
      String text = node.textValue().toLowerCase(Locale.ROOT);
      if (text.matches("[0-9]{1," + DECIMAL_DIGITS + "}")) {
        return new BigInteger(text).longValue(); // from writers that keep 64 bits out of a double
      }
      String digits = text.startsWith("0x") ? text.substring(2) : text;
      if (digits.matches("[0-9a-f]+")) {
        String first = digits.substring(0, Math.min(HEX_DIGITS, digits.length()));
        return Long.parseUnsignedLong(first, HEX);
      }
    }
    throw new UnreadableEvent(
        "`" + member + "` must be an integer of 64 bits or hex digits, got " + shortened(node));
  }

  /** A value as a message shows it. */
  static String shortened(JsonNode node) {
    String text = node.isMissingNode() ? "nothing" : node.toString();
    return text.length() <= 80 ? text : text.substring(0, 80) + "...";
  }
}
