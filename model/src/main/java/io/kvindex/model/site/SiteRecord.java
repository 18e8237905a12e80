// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kvindex.model.event.MalformedRecordException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which topics a site's positions belong to, kept in partition 0 of both compacted topics under a
 * key no publisher can have. Either copy outlives the loss of the other one's topic.
 *
 * @param epoch how often the site was repaired
 * @param topicIds Kafka's id of each topic, by name
 * @param serving whose table is answered from; not in records of version 1, which mean the default.
 *     Programs that write version 1 pass over it and go on with the default
 */
public record SiteRecord(long epoch, Map<String, String> topicIds, Serving serving) {

  /** Newest version written; older ones stay readable. */
  static final int VERSION = 2;

  /** Says the same where the default serves, to programs of any age byte by byte. */
  private static final int VERSION_WITHOUT_SERVING = 1;

  private static final byte[] KEY = "site".getBytes(StandardCharsets.US_ASCII);

  private static final ObjectMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  public SiteRecord {
    topicIds = Map.copyOf(topicIds);
  }

  /** The Kafka key. */
  static byte[] key() {
    return KEY.clone();
  }

  /** Whether a record of a compacted topic is this one, so none of a publisher. */
  public static boolean isKey(byte @Nullable [] key) {
    return Arrays.equals(key, KEY);
  }

  /** The same site, served by another application. */
  SiteRecord served(Serving other) {
    return new SiteRecord(epoch, topicIds, other);
  }

  /** Whether this one replaces another: that of the later epoch, then of the later change. */
  boolean isNewerThan(SiteRecord other) {
    return epoch != other.epoch ? epoch > other.epoch : serving.number() > other.serving.number();
  }

  /** The bytes to send. */
  byte[] encode() {
    try {
      boolean stated = !serving.equals(Serving.DEFAULT);
      return JSON.writeValueAsBytes(
          new Wire(
              stated ? VERSION : VERSION_WITHOUT_SERVING,
              epoch,
              topicIds,
              stated ? new WireServing(serving.number(), serving.application()) : null));
    } catch (IOException e) {
      throw new IllegalStateException("BUG: a site record that can not be written: " + this, e);
    }
  }

  /**
   * Reads it back.
   *
   * @throws MalformedRecordException if the bytes are no such record
   */
  static SiteRecord decode(byte[] bytes) {
    try {
      Wire wire = JSON.readValue(bytes, Wire.class);
      WireServing stated = wire.serving();
      return new SiteRecord(
          wire.epoch(),
          wire.topics(),
          stated == null ? Serving.DEFAULT : new Serving(stated.number(), stated.application()));
    } catch (IOException | IllegalArgumentException | NullPointerException e) {
      throw new MalformedRecordException("not a site record: " + e.getMessage(), e);
    }
  }

  private record Wire(
      @JsonProperty("v") int version,
      @JsonProperty("epoch") long epoch,
      @JsonProperty("topics") Map<String, String> topics,
      @JsonProperty("serving") @JsonInclude(JsonInclude.Include.NON_NULL)
          @Nullable WireServing serving) {}

  private record WireServing(
      @JsonProperty("number") long number, @JsonProperty("application") String application) {}
}
