// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordJson;
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
 */
public record SiteRecord(long epoch, Map<String, String> topicIds) {

  /** Version 2 named an application whose table serves, which is passed over. */
  static final int VERSION = 1;

  private static final byte[] KEY = "site".getBytes(StandardCharsets.US_ASCII);

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

  /** Whether this one replaces another. */
  boolean isNewerThan(SiteRecord other) {
    return epoch > other.epoch;
  }

  /** The bytes to send. */
  byte[] encode() {
    return RecordJson.encode(new Wire(VERSION, epoch, topicIds));
  }

  /**
   * Reads it back.
   *
   * @throws MalformedRecordException if the bytes are no such record
   */
  static SiteRecord decode(byte[] bytes) {
    return RecordJson.decode(
        bytes,
        Wire.class,
        wire -> new SiteRecord(wire.epoch(), wire.topics()),
        "not a site record");
  }

  private record Wire(
      @JsonProperty("v") int version,
      @JsonProperty("epoch") long epoch,
      @JsonProperty("topics") Map<String, String> topics) {}
}
