// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

import java.util.Objects;

/**
 * Unit of ordering: event ids grow by one within a stream.
 *
 * @param publisher who publishes
 * @param sub empty for engines, which have one stream each; the RFC 1527 dimensions in text form
 *     for standard publishers
 */
public record StreamId(PublisherId publisher, String sub) {

  private static final char SEPARATOR = '\n';

  public StreamId {
    Objects.requireNonNull(publisher);
    Objects.requireNonNull(sub);
  }

  /** The single stream of an engine. */
  public static StreamId of(PublisherId publisher) {
    return new StreamId(publisher, "");
  }

  /** Unique text form, the Kafka record key of the events topic. */
  public String key() {
    return sub.isEmpty() ? publisher.key() : publisher.key() + SEPARATOR + sub;
  }

  /**
   * Reads {@link #key()} back.
   *
   * @throws IllegalArgumentException if {@code key} was not made by {@link #key()}
   */
  public static StreamId parse(String key) {
    int cut = key.lastIndexOf(SEPARATOR);
    // An instance name may hold a line feed as well; the publisher part always ends in |rank.
    return cut < 0 || key.indexOf('|', cut) >= 0
        ? of(PublisherId.parse(key))
        : new StreamId(PublisherId.parse(key.substring(0, cut)), key.substring(cut + 1));
  }
}
