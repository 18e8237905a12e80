// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.function.Function;

/**
 * Our records that are JSON: members that are null are not written, unknown ones are ignored.
 * Thread-safe.
 */
public final class RecordJson {

  private static final ObjectMapper JSON =
      StrictJson.builder(new JsonFactory())
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(
                  JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
          .build();

  private RecordJson() {}

  /**
   * The bytes to send.
   *
   * @param wire what Jackson can write
   */
  public static byte[] encode(Object wire) {
    try {
      return JSON.writeValueAsBytes(wire);
    } catch (IOException e) {
      throw new IllegalStateException("BUG: a record that can not be written: " + wire, e);
    }
  }

  /**
   * Reads a record back.
   *
   * @param wire what was written
   * @param toRecord makes the record of it
   * @param none for the message: what the bytes are not
   * @throws MalformedRecordException if they are none
   */
  public static <W, T> T decode(byte[] bytes, Class<W> wire, Function<W, T> toRecord, String none) {
    try {
      return toRecord.apply(JSON.readValue(bytes, wire));
    } catch (IOException | IllegalArgumentException | NullPointerException e) {
      throw new MalformedRecordException(none + ": " + e.getMessage(), e);
    }
  }
}
