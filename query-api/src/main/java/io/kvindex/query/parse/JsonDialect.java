// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvindex.query.dialect.Dialect;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Which dialect a JSON body speaks: Dynamo's with {@code model_name}, or with a numeric {@code
 * instance_id} and no {@code modelname}; else the conductor's.
 */
public final class JsonDialect {
  private JsonDialect() {}

  /** Of a query, whose path may tell. */
  static Dialect of(byte[] text, int from, int length, QueryForm form) {
    return form == QueryForm.TIERED ? Dialect.DYNAMO : of(text, from, length);
  }

  /** Of any body; one that is no JSON object speaks as far as it can be read. */
  public static Dialect of(byte[] text, int from, int length) {
    boolean numeric = false;
    boolean conductor = false;
    try (JsonParser json = JacksonBodyReader.JSON.createParser(text, from, length)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        return Dialect.CONDUCTOR;
      }
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        @Nullable JsonToken value = json.nextToken();
        if (value != JsonToken.VALUE_NULL) {
          switch (name) {
            case "model_name" -> {
              return Dialect.DYNAMO;
            }
            case "model", "modelname" -> conductor = true;
            case "instance_id" -> numeric = value == JsonToken.VALUE_NUMBER_INT;
            default -> {}
          }
        }
        json.skipChildren();
      }
    } catch (IOException e) {
      // The reader will say what is wrong with it.
    }
    return numeric && !conductor ? Dialect.DYNAMO : Dialect.CONDUCTOR;
  }
}
