// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvindex.query.error.ApiException;
import java.io.IOException;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** Reads {@code {"instance_id": ..., "dp_rank": 0, "event_id": n}}; other members are ignored. */
final class MinEventReader {
  static final String FIELD = "min_event";

  /** What an event id may be. */
  static final String RANGE = "0 to " + Long.toUnsignedString(-1);

  private MinEventReader() {}

  static MinEvent read(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw JacksonValues.wrongType(json, FIELD, ApiException.NO_INDEX, "an object");
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
        case "dp_rank" -> rank = rank(json, FIELD + ".dp_rank");
        case "event_id" -> event = event(json, FIELD + ".event_id");
        default -> json.skipChildren();
      }
    }
    if (instance == null || instance.isEmpty()) {
      throw ApiException.missing(FIELD + ".instance_id");
    }
    if (event == null) {
      throw ApiException.missing(FIELD + ".event_id");
    }
    return new MinEvent(instance, rank, event);
  }

  /** Dynamo's clients number their instances. */
  private static String instance(JsonParser json) throws IOException {
    return json.currentToken() == JsonToken.VALUE_NUMBER_INT
        ? json.getText()
        : JacksonValues.text(json, FIELD + ".instance_id");
  }

  private static int rank(JsonParser json, String field) throws IOException {
    long value = JacksonValues.whole(json, field);
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw JacksonValues.outOfRange(json, field, ApiException.NO_INDEX, "a rank");
    }
    return (int) value;
  }

  /** As 64 bits without a sign. */
  private static long event(JsonParser json, String field) throws IOException {
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw JacksonValues.wrongType(json, field, ApiException.NO_INDEX, "an integer");
    }
    BigInteger id = JacksonValues.integer(json);
    if (id.signum() < 0 || id.bitLength() > Long.SIZE) {
      throw JacksonValues.outOfRange(json, field, ApiException.NO_INDEX, RANGE);
    }
    return id.longValue();
  }
}
