// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.error.ErrorCode;
import java.math.BigInteger;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Our reader of octets against the JDK's decoding of query strings, Jackson's reading of the same
 * members in a JSON body, and a buffer read number by number.
 */
class OctetFuzzTest {
  private static final int MAX_ITEMS = 24;
  private static final Pattern ENCODED = Pattern.compile("(?:[^%]|%[0-9A-Fa-f]{2})*");
  private static final Set<String> COMMON =
      Set.of(
          "block_size",
          "tenant_id",
          "lora_name",
          "cache_salt",
          "additionalsalt",
          "min_event",
          "model",
          "modelname");
  private static final String[] VALUES = {
    "",
    "m",
    "16",
    "0",
    "-1",
    "007",
    "1048577",
    "a b",
    "\u00e9\ud83d\ude00",
    "a&b=c",
    "x:0:1",
    "i:1:2:9",
    "x:-1:3",
    "x:0:y",
    "::1",
    "9999999999999999999",
    "99999999999999999999",
    "\ufffd",
    "+",
    "%"
  };

  private final FuzzInputs fuzz = FuzzInputs.of(OctetFuzzTest.class, 30_000);

  @Test
  void shouldGiveSameValueOrRefusal_whenRequestsAreGeneratedAndMutated() {
    QueryBodyParser parser = new QueryBodyParser(MAX_ITEMS);
    QueryBody reused = new QueryBody();
    int refused = 0;
    String parameters = "";
    for (int i = 0; i < fuzz.count; i++) {
      QueryForm form = fuzz.pick(QueryForm.values());
      parameters = i > 0 && fuzz.oneIn(4) ? parameters : mutated(generated(form));
      byte[] octets = new byte[fuzz.random.nextInt(fuzz.oneIn(8) ? 260 : 100)];
      fuzz.random.nextBytes(octets);
      int length = fuzz.oneIn(6) ? octets.length : octets.length & ~7;
      String given = parameters;
      String found =
          JsonFuzzTest.outcome(
              () -> parser.parse(BodyType.OCTETS, octets, length, form, given, reused),
              reused,
              form,
              false);
      assertThat(found)
          .as("%s?%s with %d bytes", form.path(), given, length)
          .isEqualTo(expected(form, given, octets, length));
      refused += JsonFuzzTest.isRefused(found) ? 1 : 0;
    }
    assertThat(refused)
        .as("refused of %d", fuzz.count)
        .isBetween(fuzz.count / 10, fuzz.count * 9 / 10);
  }

  private String generated(QueryForm form) {
    boolean dynamo = form == QueryForm.TIERED || fuzz.random.nextBoolean();
    List<String> pairs = new ArrayList<>();
    pairs.add(pair(dynamo ? "model_name" : fuzz.pick("model", "modelname"), "m"));
    for (String name : List.of("tenant_id", "lora_name", "cache_salt")) {
      boolean salt = name.equals("cache_salt") && dynamo && form != QueryForm.TOKENS;
      if (fuzz.oneIn(3) && !salt) {
        pairs.add(pair(name, fuzz.pick("", "a b", "\u00e9", "x+y", "acme")));
      }
    }
    if (fuzz.oneIn(3)) {
      pairs.add(pair("block_size", "" + (1 + fuzz.random.nextInt(64))));
    }
    if (fuzz.oneIn(4)) {
      pairs.add(pair("min_event", "i:" + fuzz.random.nextInt(3) + ":" + fuzz.random.nextInt(99)));
    }
    if (fuzz.oneIn(4)) {
      String name =
          fuzz.pick(
              "model",
              "model_name",
              "lora_id",
              "instance_id",
              "routing_group",
              "token_ids",
              "block_size",
              "min_event",
              "additionalsalt",
              "cache_salt",
              "tenant",
              "");
      pairs.add(fuzz.oneIn(8) ? name : pair(name, fuzz.pick(VALUES)));
    }
    Collections.shuffle(pairs, fuzz.random);
    return String.join("&", pairs);
  }

  private String pair(String name, String value) {
    String encoded = URLEncoder.encode(value, StandardCharsets.UTF_8);
    return name + "=" + (fuzz.oneIn(3) ? encoded.replace("+", "%20") : encoded);
  }

  private String mutated(String parameters) {
    StringBuilder text = new StringBuilder(parameters);
    for (int n = fuzz.random.nextInt(6) - 3; n > 0 && text.length() > 0; n--) {
      int at = fuzz.random.nextInt(text.length());
      switch (fuzz.random.nextInt(3)) {
        case 0 -> text.deleteCharAt(at);
        case 1 -> text.insert(at, fuzz.pick("&", "=", "%", "%ff", "%C3", "%zz", "+", ":", "0"));
        default -> text.setCharAt(at, (char) (33 + fuzz.random.nextInt(94)));
      }
    }
    return text.toString();
  }

  private static String expected(QueryForm form, String parameters, byte[] octets, int length) {
    boolean dynamo =
        form == QueryForm.TIERED
            || Arrays.stream(parameters.split("&"))
                .anyMatch(pair -> pair.split("=", 2)[0].equals("model_name"));
    String dialect = dynamo ? "DYNAMO" : "CONDUCTOR";
    ObjectNode members = JsonNodeFactory.instance.objectNode();
    String itemsName =
        form == QueryForm.TOKENS ? "token_ids" : dynamo ? "block_hashes" : "seq_hashes";
    members.putArray(itemsName);
    String problem = take(parameters, dynamo, members);
    if (problem != null) {
      return dialect + problem;
    }
    byte[] json = members.toString().getBytes(StandardCharsets.UTF_8);
    QueryBody body = new QueryBody();
    String names =
        JsonFuzzTest.outcome(
            () -> JacksonBodyReader.read(json, 0, json.length, form, 0, body), body, form, false);
    int width = form == QueryForm.TOKENS ? 4 : 8;
    if (JsonFuzzTest.isRefused(names)) {
      return names;
    } else if (length % width != 0) {
      return dialect + refused(ErrorCode.INVALID_VALUE, null);
    } else if (length / width > MAX_ITEMS) {
      return dialect + refused(ErrorCode.TOO_MANY_ITEMS, null);
    }
    ByteBuffer in = ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN);
    List<String> items = new ArrayList<>();
    for (int at = 0; at < length; at += width) {
      items.add(width == 4 ? "" + in.getInt(at) : "" + in.getLong(at));
    }
    return names.substring(0, names.length() - 2) + items; // in the place of "[]"
  }

  private static @Nullable String take(String parameters, boolean dynamo, ObjectNode members) {
    Set<String> seen = new HashSet<>();
    for (String pair : parameters.split("&")) {
      String name = pair.split("=", 2)[0];
      String raw = pair.contains("=") ? pair.substring(name.length() + 1) : "";
      if (pair.isEmpty()) {
        continue;
      }
      Set<String> own =
          dynamo ? Set.of("model_name", "routing_group") : Set.of("lora_id", "instance_id");
      if (!COMMON.contains(name) && !own.contains(name)) {
        return refused(ErrorCode.UNKNOWN_FIELD, null);
      } else if (!seen.add(name)) {
        return refused(ErrorCode.CONFLICTING_FIELDS, name);
      }
      String value = decoded(raw);
      if (value == null) {
        return refused(ErrorCode.INVALID_VALUE, name);
      }
      boolean number = name.equals("block_size") || name.equals("lora_id");
      if (name.equals("min_event")) {
        int rank = value.lastIndexOf(':', value.lastIndexOf(':') - 1);
        if (!value.isEmpty() && rank < 0) {
          return refused(ErrorCode.INVALID_VALUE, name);
        } else if (!value.isEmpty()) {
          ObjectNode event = members.putObject(name);
          event.put("instance_id", value.substring(0, rank));
          put(event, "dp_rank", value.substring(rank + 1, value.lastIndexOf(':')));
          putEvent(event, value.substring(value.lastIndexOf(':') + 1));
        }
      } else if (!number) {
        members.put(name, value);
      } else if (!value.isEmpty()) {
        put(members, name, value);
      }
    }
    return null;
  }

  private static void put(ObjectNode into, String name, String value) {
    if (value.matches("-?[0-9]{1,18}") && value.equals(canonical(value))) {
      into.put(name, Long.parseLong(value));
    } else {
      into.put(name, value);
    }
  }

  /** Event ids are numbers of 64 bits, without a sign: up to 20 digits. */
  private static void putEvent(ObjectNode into, String value) {
    if (value.matches("0|[1-9][0-9]{0,19}")) {
      into.put("event_id", new BigInteger(value));
    } else {
      put(into, "event_id", value);
    }
  }

  private static String canonical(String digits) {
    return digits.equals("-0") ? digits : Long.toString(Long.parseLong(digits));
  }

  private static @Nullable String decoded(String raw) {
    if (!ENCODED.matcher(raw).matches()) {
      return null;
    }
    byte[] bytes =
        URLDecoder.decode(raw, StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.ISO_8859_1);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static String refused(ErrorCode code, @Nullable String field) {
    return " refused " + code + " " + field + " " + ErrorCode.NO_INDEX;
  }
}
