// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.parse.MsgpackCursor.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code {"instance_id": ..., "dp_rank": 0, "event_id": n}} of MessagePack bodies; as strict
 * as these are everywhere. The C++ Conductor does not know it.
 */
final class MsgpackMinEvent {
  private static final String FIELD = MinEventReader.FIELD;

  private MsgpackMinEvent() {}

  static MinEvent read(MsgpackCursor in) {
    if (in.kind() != Kind.MAP) {
      throw MsgpackValues.wrongType(in, FIELD, ApiException.NO_INDEX, "a map");
    }
    @Nullable String instance = null;
    @Nullable Long event = null;
    int rank = 0;
    for (int left = in.mapLength(); left > 0; left--) {
      String name = MsgpackValues.name(in);
      String field = FIELD + "." + name;
      switch (name) {
        case "instance_id" -> instance = instance(in, field);
        case "dp_rank" -> rank = rank(in, field);
        case "event_id" -> event = event(in, field);
        default -> throw MsgpackValues.unknown(field);
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

  /** A number will do, as in JSON. */
  private static String instance(MsgpackCursor in, String field) {
    if (in.kind() == Kind.INTEGER) {
      long number = in.integer();
      return in.isUnsigned() ? Long.toUnsignedString(number) : Long.toString(number);
    }
    if (in.kind() != Kind.STRING) {
      throw MsgpackValues.wrongType(in, field, ApiException.NO_INDEX, "a string");
    }
    return MsgpackValues.whole(in, in.string(), field);
  }

  private static int rank(MsgpackCursor in, String field) {
    long value = integer(in, field);
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw MsgpackValues.outOfRange(in, value, field, ApiException.NO_INDEX, "a rank");
    }
    return (int) value;
  }

  /** As 64 bits without a sign. */
  private static long event(MsgpackCursor in, String field) {
    long value = integer(in, field);
    if (value < 0 && !in.isUnsigned()) {
      throw MsgpackValues.outOfRange(in, value, field, ApiException.NO_INDEX, MinEventReader.RANGE);
    }
    return value;
  }

  private static long integer(MsgpackCursor in, String field) {
    if (in.kind() != Kind.INTEGER) {
      throw MsgpackValues.wrongType(in, field, ApiException.NO_INDEX, "an integer");
    }
    return in.integer();
  }
}
