// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.math.BigInteger;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One block of a stored event.
 *
 * @param hash its name
 * @param tokens its tokens; those that are no number are 0, and in {@code extraKey}
 * @param level cache level, 0 = device, 1 = all below
 * @param salt request salt, null = none stated
 * @param loraId number of its adapter from 0 up, null = none stated
 * @param loraName name of its adapter, null = none stated
 * @param extraKey what else its content depends on, folded; 0 = nothing
 */
record TrtllmBlock(
    long hash,
    long[] tokens,
    int level,
    @Nullable String salt,
    @Nullable Long loraId,
    @Nullable String loraName,
    long extraKey) {

  /** Digits of the largest unsigned 64-bit number; a text of more is none. */
  private static final int DECIMAL_DIGITS = 20;

  private static final int HEX_DIGITS = 16;
  private static final int HEX = 16;

  private static final long MAX_TOKEN = 0xffff_ffffL;

  /**
   * Reads a block.
   *
   * @param event the event's {@code data}, which may say of all its blocks what a block leaves out
   * @throws UnreadableEvent naming the member at fault
   */
  static TrtllmBlock read(JsonNode block, JsonNode event) throws UnreadableEvent {
    long extra = block.path("mm_keys").isEmpty() ? 0 : nonZero(block.path("mm_keys").hashCode());
    JsonNode list = block.path("tokens");
    long[] tokens = new long[list.size()];
    for (int i = 0; i < tokens.length; i++) {
      JsonNode token = list.get(i).path("token_id");
      JsonNode extraId = list.get(i).path("token_extra_id");
      if (token.isTextual()) { // the digest of an image, in place of a token
        extra = nonZero(31 * extra + token.textValue().hashCode());
      } else if (token.isIntegralNumber()
          && token.canConvertToLong()
          && token.longValue() >= 0
          && token.longValue() <= MAX_TOKEN) {
        tokens[i] = token.longValue();
      } else {
        throw new UnreadableEvent(
            "`token_id` must be a token or a digest, got " + shortened(token));
      }
      if (extraId.asLong() != 0) {
        extra = nonZero(31 * extra + extraId.asLong());
      }
    }
    JsonNode lora = member("lora_id", block, event);
    return new TrtllmBlock(
        hashOf(block.path("block_hash"), "block_hash"),
        tokens,
        block.path("cache_level").asInt() == 0 ? 0 : 1,
        salt(block, event),
        adapter(lora.isMissingNode() ? member("lora_task_id", block, event) : lora),
        text("lora_name", block, event),
        extra);
  }

  /** The number of a block's layer group, null = none stated. */
  static @Nullable Integer group(JsonNode block, JsonNode event, JsonNode object)
      throws UnreadableEvent {
    JsonNode node = member("layer_group_id", block, event, object);
    if (node.isMissingNode()) {
      return null;
    } else if (!node.isInt() || node.intValue() < 0) {
      throw new UnreadableEvent(
          "`layer_group_id` must be an integer from 0 up, got " + shortened(node));
    }
    return node.intValue();
  }

  /** Whether one stored event can hold it and another block. */
  boolean goesWith(TrtllmBlock other) {
    return level == other.level
        && Objects.equals(salt, other.salt)
        && Objects.equals(loraId, other.loraId)
        && Objects.equals(loraName, other.loraName);
  }

  /** The same where what it does not state is as with the block before it in its prompt. */
  TrtllmBlock below(TrtllmBlock before) {
    boolean named = loraId != null || loraName != null;
    return new TrtllmBlock(
        hash,
        tokens,
        level,
        salt == null ? before.salt : salt,
        named ? loraId : before.loraId,
        named ? loraName : before.loraName,
        extraKey);
  }

  private static @Nullable String salt(JsonNode block, JsonNode event) throws UnreadableEvent {
    String salt = text("cache_salt", block, event);
    JsonNode number = member("cache_salt_id", block, event);
    if (salt == null && !number.isMissingNode() && number.asLong(1) != 0) {
      throw new UnreadableEvent(
          "`cache_salt_id` names a salt by its number only; its text is needed as `cache_salt`");
    }
    return salt;
  }

  private static @Nullable Long adapter(JsonNode node) throws UnreadableEvent {
    if (node.isMissingNode()) {
      return null;
    } else if (!node.isIntegralNumber() || !node.canConvertToLong() || node.longValue() < -1) {
      throw new UnreadableEvent(
          "`lora_id` must be an adapter's number or null, got " + shortened(node));
    }
    return node.longValue() == -1 ? null : Long.valueOf(node.longValue());
  }

  private static @Nullable String text(String name, JsonNode... places) throws UnreadableEvent {
    JsonNode node = member(name, places);
    if (node.isMissingNode()) {
      return null;
    } else if (!node.isTextual()) {
      throw new UnreadableEvent("`" + name + "` must be a string or null, got " + shortened(node));
    }
    return node.textValue().isEmpty() ? null : node.textValue();
  }

  /** The member where it is stated first; null is the same as absent. */
  private static JsonNode member(String name, JsonNode... places) {
    for (JsonNode place : places) {
      if (place.hasNonNull(name)) {
        return place.get(name);
      }
    }
    return MissingNode.getInstance();
  }

  private static long nonZero(long key) {
    return key == 0 ? 1 : key;
  }

  /**
   * Reads a block's name as 64 bits: integers ({@code v1_block_key}, {@code v2_sha256_64}) as they
   * are, the hex digits of a SHA-256 ({@code v2_sha256}) by its first eight bytes, which is what
   * {@code v2_sha256_64} sends of the same block. Source: TensorRT-LLM, {@code
   * tensorrt_llm/runtime/kv_cache_hash.py}.
   *
   * @param member for the message
   * @throws UnreadableEvent if it is neither an integer of 64 bits nor hex digits
   */
  static long hashOf(JsonNode node, String member) throws UnreadableEvent {
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
