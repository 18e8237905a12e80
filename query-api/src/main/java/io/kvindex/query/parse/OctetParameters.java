// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.math.BigInteger;
import java.net.URLDecoder;
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
          MinEvent.FIELD);
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
          MinEvent.FIELD);
  private static final Set<String> NUMBERS = Set.of("block_size", "lora_id");
  private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]{0,17})");

  /** The reader knows how large it may be. */
  private static final Pattern EVENT_ID =
      Pattern.compile("0|[1-9][0-9]{0,19}|-(0|[1-9][0-9]{0,17})");

  private static final Pattern ENCODED = Pattern.compile("(?:[^%]++|%[0-9A-Fa-f]{2})*+");
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
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.putArray(itemsName);
    Set<String> seen = new HashSet<>();
    for (String pair : pairs) {
      String name = nameOf(pair);
      if (pair.isEmpty()) {
        continue; // a stray `&`
      }
      if (!known().contains(name)) {
        throw ErrorCode.UNKNOWN_FIELD.because(
            "unknown parameter `"
                + ErrorCode.echo(name)
                + "`; known are "
                + String.join(", ", new TreeSet<>(known())));
      }
      if (!seen.add(name)) {
        throw ErrorCode.CONFLICTING_FIELDS.of(name, "parameter `" + name + "` is given twice");
      }
      member(json, name, decoded(name, pair.substring(Math.min(pair.length(), name.length() + 1))));
    }
    return json.toString();
  }

  private Set<String> known() {
    return dialect == Dialect.DYNAMO ? DYNAMO : CONDUCTOR;
  }

  private static String nameOf(String pair) {
    int equals = pair.indexOf('=');
    return equals < 0 ? pair : pair.substring(0, equals);
  }

  private static void member(ObjectNode json, String name, String value) {
    if (name.equals(MinEvent.FIELD)) {
      if (!value.isEmpty()) {
        event(json.putObject(name), value);
      }
    } else if (!NUMBERS.contains(name)) {
      json.put(name, value);
    } else if (!value.isEmpty()) {
      number(json, name, NUMBER, value);
    }
  }

  /** What is no number stays a text: the reader says what it has to be. */
  private static void number(ObjectNode json, String name, Pattern form, String value) {
    if (form.matcher(value).matches()) {
      json.put(name, new BigInteger(value));
    } else {
      json.put(name, value);
    }
  }

  /** An instance id may hold colons, so the last two count. */
  private static void event(ObjectNode json, String value) {
    Matcher parts = EVENT.matcher(value);
    if (!parts.matches()) {
      throw ErrorCode.INVALID_VALUE.member(
          MinEvent.FIELD,
          "must be <instance_id>:<dp_rank>:<event_id>, got " + ErrorCode.echo(value));
    }
    json.put("instance_id", parts.group(1));
    number(json, "dp_rank", NUMBER, parts.group(2));
    number(json, "event_id", EVENT_ID, parts.group(3));
  }

  private static String decoded(String name, String raw) {
    // As Latin-1 bytes stay what they are: those that came as such, and those that are encoded.
    String latin = new String(raw.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    if (!ENCODED.matcher(latin).matches()) {
      throw badEncoding(name);
    }
    String bytes = URLDecoder.decode(latin, StandardCharsets.ISO_8859_1);
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1)))
          .toString();
    } catch (CharacterCodingException e) {
      throw badEncoding(name);
    }
  }

  private static ApiException badEncoding(String name) {
    return ErrorCode.INVALID_VALUE.of(name, "parameter `" + name + "` is no percent-encoded UTF-8");
  }
}
