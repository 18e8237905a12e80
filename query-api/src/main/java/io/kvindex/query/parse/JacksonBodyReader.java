// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.error.MalformedJson;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * The reader that decides what a JSON query body means: every refusal of one is worded here, in a
 * dialect's reader or in {@link JacksonValues}. Streams, so a large array costs its own size only.
 * Of a repeated member the last one counts, as for both Conductor implementations.
 */
abstract class JacksonBodyReader {
  static final JsonFactory JSON = new JsonFactory();

  final QueryForm form;
  final QueryBody into;
  private final int maxItems;
  private final Set<String> present = new HashSet<>();

  JacksonBodyReader(QueryForm form, int maxItems, QueryBody into) {
    this.form = form;
    this.maxItems = maxItems;
    this.into = into;
  }

  /**
   * @throws ApiException for every body that is no valid query
   */
  static void read(
      byte[] text, int from, int length, QueryForm form, int maxItems, QueryBody into) {
    into.reset();
    into.dialect = JsonDialect.of(text, from, length, form);
    if (length == 0) {
      throw ApiException.of(ErrorCode.INVALID_JSON, "the request body is empty");
    }
    JacksonBodyReader reader =
        into.dialect == Dialect.DYNAMO
            ? new DynamoBodyReader(form, maxItems, into)
            : new ConductorBodyReader(form, maxItems, into);
    try (JsonParser json = JSON.createParser(text, from, length)) {
      reader.readRoot(json);
    } catch (JsonProcessingException e) {
      throw MalformedJson.of(e);
    } catch (IOException e) {
      throw ApiException.of(ErrorCode.INVALID_JSON, "the request body is no readable text");
    }
  }

  private void readRoot(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw ApiException.of(ErrorCode.INVALID_JSON, "the request body must be a JSON object");
    }
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String name = json.currentName();
      if (json.nextToken() == JsonToken.VALUE_NULL) {
        // The same as absent, also where it overrides an earlier value of the same member.
        if (present.remove(name)) {
          absent(name);
        }
      } else {
        present.add(name);
        member(json, name);
      }
    }
    if (json.nextToken() != null) {
      throw ApiException.of(ErrorCode.INVALID_JSON, "unexpected text after the JSON object");
    }
    checkTogether();
  }

  /** Takes a member's value, which is not null. */
  abstract void member(JsonParser json, String name) throws IOException;

  /** Forgets a member's value. */
  abstract void absent(String name);

  /** What only all members together tell. */
  abstract void checkTogether();

  final void items(JsonParser json, String name, boolean tokens) throws IOException {
    if (tokens != (form == QueryForm.TOKENS)) {
      json.skipChildren();
    } else {
      JacksonValues.items(json, name, form, maxItems, into);
    }
  }

  final boolean has(String name) {
    return present.contains(name);
  }

  final void require(String name) {
    if (!has(name)) {
      throw missing(name, "is missing");
    }
  }

  final void requireModel(String name) {
    if (into.model.isEmpty()) {
      throw missing(name, has(name) ? "must not be empty" : "is missing");
    }
  }

  private static ApiException missing(String field, String what) {
    return ApiException.field(ErrorCode.MISSING, field, "`" + field + "` " + what);
  }

  final void oneOf(String one, String other) {
    if (has(one) && has(other)) {
      throw ApiException.field(
          ErrorCode.CONFLICTING_FIELDS,
          other,
          "use either `" + one + "` or `" + other + "`, not both");
    }
  }
}
