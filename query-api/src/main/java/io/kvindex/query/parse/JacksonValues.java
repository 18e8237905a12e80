// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Single values of a query body, each with its type and range and the words for breaking them. Null
 * is what is meant where a member is absent.
 */
final class JacksonValues {
  private static final long MAX_U32 = 0xFFFF_FFFFL;

  private JacksonValues() {}

  private static boolean isNull(JsonParser json) {
    return json.currentToken() == JsonToken.VALUE_NULL;
  }

  static String text(JsonParser json, String field) throws IOException {
    if (isNull(json)) {
      return "";
    }
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw wrongType(json, field, ErrorCode.NO_INDEX, "a string");
    }
    return WholeText.require(field, json.getText());
  }

  static int blockSize(JsonParser json) throws IOException {
    if (isNull(json)) {
      return QueryBody.NO_BLOCK_SIZE;
    }
    long size = whole(json, "block_size");
    if (size < 1 || size > QueryBody.MAX_BLOCK_SIZE) {
      throw outOfRange(json, "block_size", ErrorCode.NO_INDEX, "1 to " + QueryBody.MAX_BLOCK_SIZE);
    }
    return (int) size;
  }

  static long loraId(JsonParser json) throws IOException {
    if (isNull(json)) {
      return QueryBody.NO_LORA_ID;
    }
    long id = whole(json, "lora_id");
    if (id < QueryBody.NO_LORA_ID) {
      throw outOfRange(json, "lora_id", ErrorCode.NO_INDEX, "-1 (none) or more");
    }
    return id;
  }

  static long whole(JsonParser json, String field) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw wrongType(json, field, ErrorCode.NO_INDEX, "an integer");
    }
    if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      throw outOfRange(json, field, ErrorCode.NO_INDEX, "a 64-bit integer");
    }
    return json.getLongValue();
  }

  static void items(JsonParser json, String field, QueryForm kind, int maxItems, QueryBody into)
      throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw wrongType(json, field, ErrorCode.NO_INDEX, "an array");
    }
    into.resetItems();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (into.count() == maxItems) {
        throw ErrorCode.TOO_MANY_ITEMS.element(
            field, maxItems, "`" + field + "` has more than " + maxItems + " elements");
      }
      if (kind == QueryForm.TOKENS) {
        into.addToken(token(json, field, into.count()));
      } else {
        into.addHash(hash(json, field, into.count()));
      }
    }
  }

  private static long token(JsonParser json, String field, int index) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw wrongType(json, field, index, "an integer");
    }
    if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER
        || json.getLongValue() < 0
        || json.getLongValue() > MAX_U32) {
      throw outOfRange(json, field, index, "0 to " + MAX_U32);
    }
    return json.getLongValue();
  }

  private static long hash(JsonParser json, String field, int index) throws IOException {
    boolean text = json.currentToken() == JsonToken.VALUE_STRING;
    if (!text && json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw wrongType(json, field, index, "an integer or a string");
    }
    Long bits = HashText.parse(json.getText());
    if (bits == null && text) {
      throw ErrorCode.INVALID_VALUE.mustBe(
          field, index, "a 64-bit number in decimal or 0x form", received(json));
    } else if (bits == null) {
      throw outOfRange(json, field, index, "a 64-bit number");
    }
    return bits;
  }

  static ApiException wrongType(JsonParser json, String field, int index, String wanted)
      throws IOException {
    return ErrorCode.INVALID_TYPE.mustBe(field, index, wanted, received(json));
  }

  static ApiException outOfRange(JsonParser json, String field, int index, String wanted)
      throws IOException {
    return ErrorCode.OUT_OF_RANGE.mustBe(field, index, wanted, received(json));
  }

  private static String received(JsonParser json) throws IOException {
    @Nullable JsonToken token = json.currentToken();
    if (token == JsonToken.START_OBJECT) {
      return "an object";
    }
    if (token == JsonToken.START_ARRAY) {
      return "an array";
    }
    String text = ErrorCode.echo(json.getText());
    return token == JsonToken.VALUE_STRING ? "\"" + text + "\"" : text;
  }

  /** {@code {"instance_id": ..., "dp_rank": 0, "event_id": n}}; other members are ignored. */
  static @Nullable MinEvent minEvent(JsonParser json) throws IOException {
    if (isNull(json)) {
      return null;
    }
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw wrongType(json, MinEvent.FIELD, ErrorCode.NO_INDEX, "an object");
    }
    @Nullable String instance = null;
    @Nullable Long event = null;
    int rank = 0;
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String name = json.currentName();
      if (json.nextToken() == JsonToken.VALUE_NULL) {
        continue;
      }
      switch (name) {
        case "instance_id" -> instance = instance(json);
        case "dp_rank" -> rank = rank(json, MinEvent.FIELD + ".dp_rank");
        case "event_id" -> event = event(json, MinEvent.FIELD + ".event_id");
        default -> json.skipChildren();
      }
    }
    return MinEvent.of(instance, rank, event);
  }

  /** Dynamo's clients number their instances. */
  private static String instance(JsonParser json) throws IOException {
    return json.currentToken() == JsonToken.VALUE_NUMBER_INT
        ? json.getText()
        : text(json, MinEvent.FIELD + ".instance_id");
  }

  private static int rank(JsonParser json, String field) throws IOException {
    long value = whole(json, field);
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw outOfRange(json, field, ErrorCode.NO_INDEX, "a rank");
    }
    return (int) value;
  }

  /** As 64 bits without a sign. */
  private static long event(JsonParser json, String field) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw wrongType(json, field, ErrorCode.NO_INDEX, "an integer");
    }
    Long id = HashText.parse(json.getText());
    if (id == null || json.getText().startsWith("-") && id != 0) {
      throw outOfRange(json, field, ErrorCode.NO_INDEX, MinEvent.RANGE);
    }
    return id;
  }
}
