// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.StrictJson;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Messages between replicas that are rare: records as JSON, their components as members. A member
 * that is not known refuses the message, unless its record passes such over. Walks have bytes of
 * their own.
 */
final class PlainMessage {
  private static final ObjectMapper JSON =
      StrictJson.builder(new JsonFactory())
          .addMixIn(PublisherId.class, PublisherText.class)
          .enable(
              DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
              DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
              DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
              DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
          .build();

  /** A publisher is its key, also where it is the key of a map. */
  private interface PublisherText {
    @JsonValue
    String key();

    @JsonCreator
    static PublisherId parse(String key) {
      return PublisherId.parse(key);
    }
  }

  private PlainMessage() {}

  static byte[] encode(Object message) {
    try {
      return JSON.writeValueAsBytes(message);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Reads a message.
   *
   * @throws MalformedRecordException if it is none of that kind
   */
  static <T> T decode(byte[] bytes, Class<T> kind) {
    if (bytes.length > 0 && bytes[0] < ' ') { // as messages once began
      throw new MalformedRecordException("version " + bytes[0] + " is not known here");
    }
    try {
      T message = JSON.readValue(bytes, kind);
      if (message == null) {
        throw new MalformedRecordException("the message is null");
      }
      return message;
    } catch (JsonProcessingException e) {
      throw new MalformedRecordException(e.getOriginalMessage());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // not of bytes that are here
    }
  }
}
