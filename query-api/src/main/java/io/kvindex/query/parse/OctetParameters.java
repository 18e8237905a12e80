// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.reply.JsonBuffer;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The query string of an octet-stream query, form-encoded: {@code +} is a blank. Other than in a
 * JSON body unknown and repeated names are refused: there is no older client to be lenient for, and
 * a misspelt salt would be an answer about other blocks.
 */
final class OctetParameters {
  private static final Set<String> CONDUCTOR =
      Set.of(
          "model",
          "modelname",
          "block_size",
          "tenant_id",
          "lora_name",
          "lora_id",
          "cache_salt",
          "additionalsalt",
          "instance_id",
          MinEventReader.FIELD);
  private static final Set<String> DYNAMO =
      Set.of(
          "model_name",
          "model", // both are refused by the reader
          "modelname",
          "block_size",
          "routing_group",
          "tenant_id",
          "lora_name",
          "cache_salt",
          "additionalsalt",
          MinEventReader.FIELD);
  private static final Set<String> NUMBERS = Set.of("block_size", "lora_id");
  private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]{0,17})");
  private static final Pattern UNSIGNED = Pattern.compile("0|[1-9][0-9]{0,19}");
  private static final Pattern EVENT = Pattern.compile("(.*):([^:]*):([^:]*)", Pattern.DOTALL);

  private final String[] pairs;
  private final Dialect dialect;

  OctetParameters(QueryForm form, String raw) {
    pairs = raw.isEmpty() ? new String[0] : raw.split("&", -1);
    boolean dynamo = form == QueryForm.TIERED;
    for (String pair : pairs) {
      dynamo |= nameOf(pair).equals("model_name");
    }
    dialect = dynamo ? Dialect.DYNAMO : Dialect.CONDUCTOR;
  }

  /** Whose names these are. */
  Dialect dialect() {
    return dialect;
  }

  /** The same as a JSON body without any item. */
  String asJson(String itemsName) {
    JsonBuffer json = new JsonBuffer();
    json.raw('{').name(itemsName).raw('[').raw(']');
    Set<String> seen = new HashSet<>();
    for (String pair : pairs) {
      String name = nameOf(pair);
      if (pair.isEmpty()) {
        continue; // a stray `&`
      }
      if (!known().contains(name)) {
        throw ApiException.of(
            ErrorCode.UNKNOWN_FIELD,
            "unknown parameter `"
                + ApiException.echo(name)
                + "`; known are "
                + String.join(", ", new TreeSet<>(known())));
      }
      if (!seen.add(name)) {
        throw ApiException.field(
            ErrorCode.CONFLICTING_FIELDS, name, "parameter `" + name + "` is given twice");
      }
      member(json, name, decoded(name, pair.substring(Math.min(pair.length(), name.length() + 1))));
    }
    return json.raw('}').asText();
  }

  private Set<String> known() {
    return dialect == Dialect.DYNAMO ? DYNAMO : CONDUCTOR;
  }

  private static String nameOf(String pair) {
    int equals = pair.indexOf('=');
    return equals < 0 ? pair : pair.substring(0, equals);
  }

  private static void member(JsonBuffer json, String name, String value) {
    boolean text = !NUMBERS.contains(name) && !name.equals(MinEventReader.FIELD);
    if (value.isEmpty() && !text) {
      return;
    }
    json.raw(',').name(name);
    if (text) {
      json.string(value);
    } else if (name.equals(MinEventReader.FIELD)) {
      event(json, value);
    } else {
      number(json, value);
    }
  }

  /** What is no number stays a text: the reader says what it has to be. */
  private static void number(JsonBuffer json, String value) {
    if (NUMBER.matcher(value).matches()) {
      json.number(Long.parseLong(value));
    } else {
      json.string(value);
    }
  }

  /** An instance id may hold colons, so the last two count. */
  private static void event(JsonBuffer json, String value) {
    Matcher parts = EVENT.matcher(value);
    if (!parts.matches()) {
      throw ApiException.field(
          ErrorCode.INVALID_VALUE,
          MinEventReader.FIELD,
          "`min_event` must be <instance_id>:<dp_rank>:<event_id>, got "
              + ApiException.echo(value));
    }
    json.raw('{').name("instance_id").string(parts.group(1)).raw(',').name("dp_rank");
    number(json, parts.group(2));
    json.raw(',').name("event_id");
    String id = parts.group(3);
    if (UNSIGNED.matcher(id).matches()) {
      json.raw(id.getBytes(StandardCharsets.US_ASCII)); // the reader knows how large it may be
    } else {
      number(json, id);
    }
    json.raw('}');
  }

  private static String decoded(String name, String raw) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(raw.length());
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '%') {
        int high = i + 2 < raw.length() ? hex(raw.charAt(i + 1)) : -1;
        int low = high < 0 ? -1 : hex(raw.charAt(i + 2));
        if (low < 0) {
          throw badEncoding(name);
        }
        bytes.write(high << 4 | low);
        i += 2;
      } else if (c == '+') {
        bytes.write(' ');
      } else {
        bytes.writeBytes(String.valueOf(c).getBytes(StandardCharsets.UTF_8));
      }
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.toByteArray()))
          .toString();
    } catch (CharacterCodingException e) {
      throw badEncoding(name);
    }
  }

  private static int hex(char c) {
    return c < 0x80 ? Character.digit(c, 16) : -1;
  }

  private static ApiException badEncoding(String name) {
    return ApiException.field(
        ErrorCode.INVALID_VALUE, name, "parameter `" + name + "` is no percent-encoded UTF-8");
  }
}
