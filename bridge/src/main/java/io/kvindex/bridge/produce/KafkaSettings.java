// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.model.kafka.ClientKind;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.MetadataRecoveryStrategy;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.jspecify.annotations.Nullable;

/** Configuration of the bridge's Kafka clients. */
public final class KafkaSettings {

  /** After so long without a sign of life the group gives a bridge's share to others. */
  private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(6);

  /** The most at which Kafka's idempotent producer keeps the order of a partition's records. */
  private static final int IN_FLIGHT = 5;

  private static final int BATCH_BYTES = 128 << 10;

  /** The producer must not make a loop wait long, so it always has more room than we use. */
  private static final int BUFFER_FACTOR = 3;

  /**
   * It takes a whole batch's room for each that is open or under way, however little is in it: this
   * is enough for some hundred and fifty partitions. A limit; what is not needed is not taken.
   */
  private static final long BUFFER_BYTES = 64L << 20;

  private KafkaSettings() {}

  /**
   * Idempotent, nothing acknowledged before all in-sync replicas have it.
   *
   * @param common {@code bootstrap.servers} and whatever a site needs for all its clients
   * @param budgetBytes most bytes in flight, see {@link SendBudget}
   * @param deliveryTimeout longest outage a record is kept for
   */
  public static Map<String, Object> producer(
      Map<String, ?> common, long budgetBytes, Duration deliveryTimeout) {
    Map<String, Object> settings = new HashMap<>();
    settings.put(ProducerConfig.ACKS_CONFIG, "all");
    settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    // Nothing waits for more to come, nor for the request before: as many are under way as keep
    // their order with idempotence. What comes while they are travels together.
    settings.put(ProducerConfig.LINGER_MS_CONFIG, 0);
    settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, IN_FLIGHT);
    settings.put(ProducerConfig.BATCH_SIZE_CONFIG, BATCH_BYTES);
    settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, BUFFER_FACTOR * budgetBytes + BUFFER_BYTES);
    // No compression: hashes do not shrink, and lz4 made no difference to the rate (measured).
    settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000);
    settings.put(
        ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Math.toIntExact(deliveryTimeout.toMillis()));
    settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000);
    // A quiet bridge keeps its metadata: fetching it anew would block a loop.
    settings.put(ProducerConfig.METADATA_MAX_IDLE_CONFIG, Duration.ofDays(7).toMillis());
    // With every broker away the default forgets all topics, and each send would wait for metadata
    // on a loop instead of queueing its record.
    settings.put(
        CommonClientConfigs.METADATA_RECOVERY_STRATEGY_CONFIG, MetadataRecoveryStrategy.NONE.name);
    settings.put(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, ClientKind.RETRY_BACKOFF_MAX_MS);
    settings.put(ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG, ClientKind.RETRY_BACKOFF_MAX_MS);
    return complete(ClientKind.PRODUCER, common, settings);
  }

  /** A consumer that reads partitions it is told to, from their beginning to their end. */
  public static Map<String, Object> reader(Map<String, ?> common) {
    Map<String, Object> settings = consumer();
    // A fetch that waits for more at the end would delay the next read by that much.
    settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 20);
    return complete(ClientKind.CONSUMER, common, settings);
  }

  private static Map<String, Object> consumer() {
    Map<String, Object> settings = new HashMap<>();
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    settings.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, ClientKind.RETRY_BACKOFF_MAX_MS);
    settings.put(ConsumerConfig.RETRY_BACKOFF_MAX_MS_CONFIG, ClientKind.RETRY_BACKOFF_MAX_MS);
    return settings;
  }

  /**
   * A member of the bridges' group. It never commits: whoever gets a partition reads all of it.
   *
   * @param instanceId stable name of this member where there is only one, so that after a crash it
   *     need not wait for its own old session; null = none
   */
  public static Map<String, Object> member(
      Map<String, ?> common, String groupId, @Nullable String instanceId) {
    Map<String, Object> settings = consumer();
    settings.put(ConsumerConfig.GROUP_ID_CONFIG, groupId);
    if (instanceId != null) {
      settings.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, instanceId);
    }
    settings.put(
        ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
        CooperativeStickyAssignor.class.getName());
    settings.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, (int) SESSION_TIMEOUT.toMillis());
    settings.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 200);
    // A record ends a fetch. Where another broker leads a partition from now on, it is first asked
    // for when the fetch that waits there for records of the others is over: that is Kafka's own.
    settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 500);
    return complete(ClientKind.CONSUMER, common, settings);
  }

  /**
   * After how much silence the group thinks a member dead.
   *
   * @param member settings of {@link #member}
   */
  public static Duration session(Map<String, Object> member) {
    Object ms = member.get(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG);
    return Duration.ofMillis(Long.parseLong(String.valueOf(ms)));
  }

  /** With what the site says; a name without prefix is below ours. */
  private static Map<String, Object> complete(
      ClientKind kind, Map<String, ?> common, Map<String, Object> own) {
    Map<String, Object> settings = kind.settings(common, own);
    settings.putIfAbsent(CommonClientConfigs.ENABLE_METRICS_PUSH_CONFIG, false);
    return settings;
  }
}
