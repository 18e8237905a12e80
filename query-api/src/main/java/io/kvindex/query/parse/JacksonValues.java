// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.io.IOException;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** Single values of a query body, each with its type and range and the words for breaking them. */
final class JacksonValues {
  private static final long MAX_U32 = 0xFFFF_FFFFL;

  private JacksonValues() {}

  static String text(JsonParser json, String field) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw wrongType(json, field, ApiException.NO_INDEX, "a string");
    }
    String text = json.getText();
    if (!WholeText.is(text)) {
      throw ApiException.field(
          ErrorCode.INVALID_VALUE, field, "`" + field + "` has half a surrogate pair");
    }
    return text;
  }

  static int blockSize(JsonParser json) throws IOException {
    long size = whole(json, "block_size");
    if (size < 1 || size > QueryBody.MAX_BLOCK_SIZE) {
      throw outOfRange(
          json, "block_size", ApiException.NO_INDEX, "1 to " + QueryBody.MAX_BLOCK_SIZE);
    }
    return (int) size;
  }

  static long loraId(JsonParser json) throws IOException {
    long id = whole(json, "lora_id");
    if (id < QueryBody.NO_LORA_ID) {
      throw outOfRange(json, "lora_id", ApiException.NO_INDEX, "-1 (none) or more");
    }
    return id;
  }

  static long whole(JsonParser json, String field) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw wrongType(json, field, ApiException.NO_INDEX, "an integer");
    }
    if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      throw outOfRange(json, field, ApiException.NO_INDEX, "a 64-bit integer");
    }
    return json.getLongValue();
  }

  static void items(JsonParser json, String field, QueryForm kind, int maxItems, QueryBody into)
      throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw wrongType(json, field, ApiException.NO_INDEX, "an array");
    }
    into.resetItems();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (into.count() == maxItems) {
        throw ApiException.element(
            ErrorCode.TOO_MANY_ITEMS,
            field,
            maxItems,
            "`" + field + "` has more than " + maxItems + " elements");
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
    Long bits =
        switch (json.currentToken()) {
          case VALUE_NUMBER_INT -> HashText.bits(integer(json));
          case VALUE_STRING -> HashText.parse(json.getText());
          default -> throw wrongType(json, field, index, "an integer or a string");
        };
    if (bits == null) {
      throw hashOutOfRange(json, field, index);
    }
    return bits;
  }

  static BigInteger integer(JsonParser json) throws IOException {
    return json.getNumberType() == JsonParser.NumberType.BIG_INTEGER
        ? json.getBigIntegerValue()
        : BigInteger.valueOf(json.getLongValue());
  }

  private static ApiException hashOutOfRange(JsonParser json, String field, int index)
      throws IOException {
    if (json.currentToken() == JsonToken.VALUE_STRING) {
      return ApiException.mustBe(
          ErrorCode.INVALID_VALUE,
          field,
          index,
          "a 64-bit number in decimal or 0x form",
          received(json));
    }
    return outOfRange(json, field, index, "a 64-bit number");
  }

  static ApiException wrongType(JsonParser json, String field, int index, String wanted)
      throws IOException {
    return ApiException.mustBe(ErrorCode.INVALID_TYPE, field, index, wanted, received(json));
  }

  static ApiException outOfRange(JsonParser json, String field, int index, String wanted)
      throws IOException {
    return ApiException.mustBe(ErrorCode.OUT_OF_RANGE, field, index, wanted, received(json));
  }

  private static String received(JsonParser json) throws IOException {
    @Nullable JsonToken token = json.currentToken();
    if (token == JsonToken.START_OBJECT) {
      return "an object";
    }
    if (token == JsonToken.START_ARRAY) {
      return "an array";
    }
    String text = ApiException.echo(json.getText());
    return token == JsonToken.VALUE_STRING ? "\"" + text + "\"" : text;
  }
}
