// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.member.MemberName;
import io.kvindex.streams.apply.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;

/**
 * Settings of an indexer.
 *
 * @param kafka settings of all its Kafka clients; {@code bootstrap.servers} at least
 * @param applicationId name all replicas of a site share; part of the changelog topic's name
 * @param stateDir where RocksDB lives
 * @param advertise {@code host:port} other replicas reach this one at, null = none
 * @param placement how many copies there are and where
 * @param tolerance what counts as far behind, and how long Kafka may be away
 * @param limits bounds of what is kept beside the blocks
 * @param changelog whether rows are in Kafka too, for standbys and for who lost them. Without, a
 *     row costs half as much, and a table whose rows are lost has to be built anew from the log
 */
public record IndexerConfig(
    Map<String, Object> kafka,
    String applicationId,
    Path stateDir,
    @Nullable String advertise,
    Placement placement,
    Tolerance tolerance,
    Limits limits,
    boolean changelog) {

  /** Application id where nobody says otherwise. */
  public static final String DEFAULT_APPLICATION = "kvindex";

  /** For the million blocks of a large partition; 96 MiB of heap. */
  private static final int REMEMBERED_BULK = 1 << 22;

  /** The shortest that brokers allow unless told otherwise. */
  static final int SESSION_MS = 6_000;

  /** How a site may call it that wants another; the first that is there counts. */
  private static final List<String> SESSION =
      List.of(
          StreamsConfig.mainConsumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG),
          StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG));

  public IndexerConfig {
    kafka = Map.copyOf(kafka);
    if (!kafka.containsKey("bootstrap.servers")) {
      throw new IllegalArgumentException("kafka settings need bootstrap.servers");
    }
    if (!changelog && placement.standbys() > 0) {
      throw new IllegalArgumentException("standbys need a changelog");
    }
  }

  /** Defaults for a cluster at {@code bootstrapServers}. */
  public static IndexerConfig at(String bootstrapServers, Path stateDir) {
    return on(Map.of("bootstrap.servers", bootstrapServers), stateDir);
  }

  /**
   * Defaults for a cluster that needs more to be reached than its address.
   *
   * @param kafka settings of all Kafka clients, see {@link ClientKind}
   */
  public static IndexerConfig on(Map<String, Object> kafka, Path stateDir) {
    return new IndexerConfig(
        kafka,
        DEFAULT_APPLICATION,
        stateDir,
        null,
        Placement.DEFAULT,
        Tolerance.DEFAULT,
        Limits.DEFAULT,
        true);
  }

  /** For a site with one indexer: a stable name in its group and no standby. */
  public IndexerConfig alone(String name) {
    return placed(placement.copied(0).named(name));
  }

  /** The same as another application, with its own place in the log and its own tables. */
  public IndexerConfig as(String otherApplicationId) {
    return new IndexerConfig(
        kafka, otherApplicationId, stateDir, advertise, placement, tolerance, limits, changelog);
  }

  /** The same with an address for other replicas. */
  public IndexerConfig advertisedAs(String hostAndPort) {
    return new IndexerConfig(
        kafka, applicationId, stateDir, hostAndPort, placement, tolerance, limits, changelog);
  }

  /** The same with other copies. */
  public IndexerConfig placed(Placement other) {
    return new IndexerConfig(
        kafka, applicationId, stateDir, advertise, other, tolerance, limits, changelog);
  }

  /**
   * The same with a name in the group that says where this process listens, if it has no name of
   * the site's own: others notice then that it is dead.
   */
  IndexerConfig named() {
    MemberName member =
        placement.name() == null && advertise != null ? MemberName.at(advertise) : null;
    return member == null ? this : placed(placement.named(member.text()));
  }

  /** After how much silence of a replica the group gives its partitions to others. */
  Duration session() {
    Object ms = SESSION.stream().map(kafka::get).filter(Objects::nonNull).findFirst().orElse(null);
    return Duration.ofMillis(ms == null ? SESSION_MS : Long.parseLong(String.valueOf(ms)));
  }

  /** Whether a person gave this replica its name, and may have given it twice. */
  boolean isNamedBySite() {
    return placement.name() != null && MemberName.of(placement.name()) == null;
  }

  /** The same with other bounds in time. */
  public IndexerConfig tolerating(Tolerance other) {
    return new IndexerConfig(
        kafka, applicationId, stateDir, advertise, placement, other, limits, changelog);
  }

  /** The same without standbys and with rows nowhere but in its own directory. */
  public IndexerConfig withoutChangelog() {
    return new IndexerConfig(
        kafka,
        applicationId,
        stateDir,
        advertise,
        placement.copied(0),
        tolerance,
        limits.rememberingBlocks(REMEMBERED_BULK),
        false);
  }
}
