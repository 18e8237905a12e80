// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.error.MalformedJson;
import io.kvindex.query.parse.WholeText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The members of a small JSON body, each read with its type. null is the same as absent. A repeated
 * member is refused: for a registration the first or the last one may be the wrong one.
 */
public final class BodyFields {
  /** Longest text in characters: names travel with every event of the publisher. */
  private static final int MAX_TEXT = 4_096;

  /** Longest list, in characters of its texts. */
  private static final int MAX_LIST = 16 * MAX_TEXT;

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final JsonNode root;

  private BodyFields(JsonNode root) {
    this.root = root;
  }

  /** The members of a body that was read already. */
  static BodyFields of(JsonNode root) {
    return new BodyFields(root);
  }

  /**
   * Reads a body.
   *
   * @throws ApiException (400) if it is no JSON object
   */
  public static BodyFields parse(byte[] body) {
    if (body.length == 0) {
      throw ErrorCode.INVALID_JSON.because("the request body is empty");
    }
    try {
      JsonNode root = JSON.readTree(body);
      if (!root.isObject()) {
        throw ErrorCode.INVALID_JSON.because("the request body must be a JSON object");
      }
      return new BodyFields(root);
    } catch (IOException e) {
      throw MalformedJson.of(e);
    }
  }

  boolean has(String field) {
    return root.hasNonNull(field);
  }

  /** A member of a type, null if absent. */
  private @Nullable JsonNode typed(String field, Predicate<JsonNode> isOfIt, String wanted) {
    JsonNode value = node(field);
    if (value != null && !isOfIt.test(value)) {
      throw wrongType(field, wanted);
    }
    return value;
  }

  /** A member's text, null if absent. */
  @Nullable String text(String field) {
    JsonNode value = typed(field, JsonNode::isTextual, "a string");
    return value == null ? null : bounded(field, value.textValue(), MAX_TEXT);
  }

  private static String bounded(String field, String text, int most) {
    if (text.length() > most) {
      throw ErrorCode.OUT_OF_RANGE.member(
          field, "must have " + most + " characters at most, got " + text.length());
    }
    return WholeText.require(field, text);
  }

  /**
   * A member's text.
   *
   * @throws ApiException if it is absent, empty, no text or too long
   */
  public String requiredText(String field) {
    String value = text(field);
    if (value == null || value.isEmpty()) {
      throw ErrorCode.MISSING.of(
          field, "`" + field + (value == null ? "` is missing" : "` must not be empty"));
    }
    return value;
  }

  /** A member that has two names; both at once is refused. */
  @Nullable String eitherText(String name, String alias) {
    if (has(name) && has(alias)) {
      throw ErrorCode.both(name, alias, alias);
    }
    return has(alias) ? text(alias) : text(name);
  }

  /** A whole number within bounds, or the default if absent. */
  int number(String field, int min, int max, int ifAbsent) {
    JsonNode value = typed(field, JsonNode::isIntegralNumber, "an integer");
    if (value == null) {
      return ifAbsent;
    }
    if (!value.canConvertToInt() || value.intValue() < min || value.intValue() > max) {
      throw ErrorCode.OUT_OF_RANGE.mustBe(
          field, min + " to " + max, ErrorCode.echo(value.asText()));
    }
    return value.intValue();
  }

  boolean flag(String field) {
    JsonNode value = typed(field, JsonNode::isBoolean, "true or false");
    return value != null && value.booleanValue();
  }

  /** A list of strings, null if absent. */
  @Nullable List<String> texts(String field) {
    JsonNode value = typed(field, JsonNode::isArray, "an array of strings");
    if (value == null) {
      return null;
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode element : value) {
      if (!element.isTextual()) {
        throw ErrorCode.INVALID_TYPE.element(
            field, texts.size(), "`" + field + "[" + texts.size() + "]` must be a string");
      }
      texts.add(element.textValue());
    }
    bounded(field, String.join("", texts), MAX_LIST);
    return texts;
  }

  /** An object of strings, none of them empty; null if absent. */
  @Nullable Map<String, String> textsByName(String field) {
    JsonNode value = typed(field, JsonNode::isObject, "an object of strings");
    if (value == null) {
      return null;
    }
    Map<String, String> texts = new LinkedHashMap<>();
    StringBuilder all = new StringBuilder();
    for (Map.Entry<String, JsonNode> member : value.properties()) {
      String text = member.getValue().textValue();
      if (member.getKey().isEmpty() || text == null || text.isEmpty()) {
        throw ErrorCode.INVALID_VALUE.member(field, "must map names to texts");
      }
      bounded(field, text, MAX_TEXT);
      all.append(member.getKey()).append(text);
      texts.put(member.getKey(), text);
    }
    bounded(field, all.toString(), MAX_LIST);
    return texts;
  }

  /** The member as it is, null if absent. */
  @Nullable JsonNode node(String field) {
    return has(field) ? root.get(field) : null;
  }

  ApiException wrongType(String field, String wanted) {
    JsonNode value = root.path(field);
    String got =
        value.isContainerNode()
            ? (value.isArray() ? "an array" : "an object")
            : ErrorCode.echo(value.toString());
    return ErrorCode.INVALID_TYPE.mustBe(field, wanted, got);
  }
}
