// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The topics of kvindex as every process expects them. Names, partition counts and policies are
 * public API.
 */
public final class Topics {

  /** Registrations by publisher, compacted; a record's offset is the registration's generation. */
  public static final String REGISTRATIONS = "kvindex.registrations";

  /** The log of truth: one record per ZMQ batch, partitioned by table. */
  public static final String EVENTS = "kvindex.events";

  /** Durable progress of the bridges by publisher, compacted. */
  public static final String BRIDGE_PROGRESS = "kvindex.bridge-progress";

  /** Frames that could not be decoded, by publisher. */
  public static final String QUARANTINE = "kvindex.quarantine";

  /** Which replicas there are, by address, compacted. */
  public static final String REPLICAS = "kvindex.replicas";

  /** Partitions of the compacted topics by publisher. */
  public static final int CONTROL_PARTITIONS = 12;

  private static final String DELETE = "delete";
  private static final String COMPACT = "compact";

  private Topics() {}

  /**
   * All topics a site needs.
   *
   * @param eventPartitions partitions of the events topic; can not be changed later without
   *     rebuilding the tables
   * @param replication copies of each partition, 1 on the embedded broker
   * @param eventRetention how far back history can be replayed
   * @param eventBytesPerPartition upper bound of a partition's log in bytes, -1 = none
   */
  public static List<TopicSpec> all(
      int eventPartitions,
      short replication,
      Duration eventRetention,
      long eventBytesPerPartition) {
    Map<String, String> control =
        Map.of(
            "cleanup.policy",
            COMPACT,
            "segment.bytes",
            "16777216",
            "min.cleanable.dirty.ratio",
            "0.3");
    Map<String, String> events =
        Map.of(
            "cleanup.policy",
            DELETE,
            "message.timestamp.type",
            "LogAppendTime",
            "retention.ms",
            Long.toString(eventRetention.toMillis()),
            "retention.bytes",
            Long.toString(eventBytesPerPartition));
    return List.of(
        new TopicSpec(
            REGISTRATIONS, CONTROL_PARTITIONS, replication, control, "every registration"),
        new TopicSpec(
            EVENTS, eventPartitions, replication, events, "the history tables are rebuilt from"),
        new TopicSpec(
            BRIDGE_PROGRESS,
            CONTROL_PARTITIONS,
            replication,
            control,
            "where bridges go on after a restart"),
        new TopicSpec(
            QUARANTINE, 1, replication, quarantine(), "undecodable frames kept for a retry"),
        new TopicSpec(
            REPLICAS,
            1,
            replication,
            Map.of("cleanup.policy", COMPACT, "segment.bytes", "1048576"),
            "who the other replicas are, until they say so again"));
  }

  /**
   * Raw frames hold token ids, so they have to go in time. Kafka deletes whole segments, and never
   * the one it appends to: without segments of an hour, a frame would stay until its segment is
   * full or, by Kafka's default, a week old, and a day beyond that.
   */
  private static Map<String, String> quarantine() {
    return Map.of(
        "cleanup.policy",
        DELETE,
        "message.timestamp.type",
        "LogAppendTime",
        "retention.ms",
        Long.toString(Duration.ofHours(24).toMillis()),
        "segment.ms",
        Long.toString(Duration.ofHours(1).toMillis()),
        "retention.bytes",
        Long.toString(256L << 20),
        "segment.bytes",
        Long.toString(32L << 20));
  }
}
