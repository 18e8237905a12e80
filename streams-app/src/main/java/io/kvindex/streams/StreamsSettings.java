// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.streams.store.PrefixRocksConfig;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;

/** What an indexer's settings come to in Kafka Streams. */
final class StreamsSettings {

  /**
   * Each commit holds up the table for a while, so a table that has much to catch up with commits
   * as seldom; see {@code EarlyCommits} for those that standbys wait for.
   */
  private static final int COMMIT_MS = 1_000;

  /**
   * A table that is built from the log is nobody's to follow, and each commit holds it up: what was
   * applied since the last one is read again if a task has to begin anew, and no more depends on
   * it.
   */
  private static final int COMMIT_MS_BULK = 5_000;

  /**
   * Kafka Streams joins no rebalance before all is applied that it has polled. Of the batches of
   * engines, its usual thousand took up to five seconds on a full machine, in which the whole group
   * waited, and the partitions of a dead replica with it.
   */
  private static final int POLLED = 100;

  /** Some ten milliseconds' work. */
  private static final int POLLED_BULK = 2_000;

  private static final String RACK_TAG = "rack";

  /**
   * Rows a copy may lack for a partition to be moved to it for balance: some tenths of a second of
   * a busy one. Kafka's 10,000 are seconds, in which its answers stand still; whenever a replica
   * died or came back partitions of all the others changed places so, on a machine that was full
   * anyway.
   */
  private static final long ACCEPTABLE_LAG = 1_000;

  /**
   * The shortest there is: who has too many partitions since another one died keeps them so long.
   */
  private static final long PROBING_MS = 60_000;

  /** Kafka's own. */
  private static final int REQUEST_MS = 30_000;

  private static final int MAX_POLL_BEYOND_MS = 60_000;

  private StreamsSettings() {}

  /**
   * What Kafka Streams is started with. The classic protocol keeps a store open when a standby
   * becomes active; exactly-once makes a table's rows, its changelog and its place in the log one
   * thing, at no cost in freshness, since queries see rows before the commit (ADR 0001).
   *
   * @param copies of each changelog partition in Kafka; {@link ChangelogTopic#BROKERS_DEFAULT}
   */
  static Properties of(IndexerConfig config, int copies) {
    Map<String, Object> all = new HashMap<>();
    all.put(StreamsConfig.APPLICATION_ID_CONFIG, config.applicationId());
    all.put(StreamsConfig.STATE_DIR_CONFIG, config.stateDir().toString());
    all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, COMMIT_MS);
    // A copy that becomes the owner waits for two polls, which have nothing to wait for.
    all.put(StreamsConfig.POLL_MS_CONFIG, 25);
    all.put(CommonClientConfigs.RETRY_BACKOFF_MAX_MS_CONFIG, ClientKind.RETRY_BACKOFF_MAX_MS);
    all.put(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, ClientKind.RETRY_BACKOFF_MAX_MS);
    // Rows of partitions that went elsewhere are looked for so often, and are so old when deleted:
    // twice this comes before they are too old to be gone on with.
    all.put(
        StreamsConfig.STATE_CLEANUP_DELAY_MS_CONFIG,
        MissedDeletions.LONGEST_ABSENCE.dividedBy(2).toMillis());
    all.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 1);
    all.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    all.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, copies);
    all.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, PrefixRocksConfig.class);
    addClients(all);
    addPlacement(all, config.placement(), config.advertise());
    addPatience(all, config.tolerance());
    if (!config.changelog()) {
      addBulk(all);
    }
    // Ours have a consumer's or producer's prefix or are Streams' own: a site's settings for all
    // clients stay below them, those with a prefix and those of Streams replace them.
    all.putAll(config.kafka());
    Properties properties = new Properties();
    properties.putAll(all);
    return properties;
  }

  private static void addClients(Map<String, Object> all) {
    all.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    all.put(
        StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG),
        IndexerConfig.SESSION_MS);
    // Members learn with their next heartbeat that one of them is gone: Kafka's usual quarter of
    // the session would be up to one and a half seconds more of stale answers.
    all.put(StreamsConfig.consumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), 200);
    all.put(StreamsConfig.consumerPrefix(ConsumerConfig.FETCH_MIN_BYTES_CONFIG), 1);
    all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), POLLED);
    all.put(StreamsConfig.restoreConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 5_000);
    all.put(
        StreamsConfig.restoreConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG),
        1 << 20);
    // Rows wait for nobody but the commit, which sends what is left; fewer requests spare brokers.
    all.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 200);
    all.put(StreamsConfig.producerPrefix(ProducerConfig.BATCH_SIZE_CONFIG), 128 << 10);
    // A transaction's first batch may be told to come again while the one before is completing:
    // with several under way those behind it would be refused as out of order, and loudly.
    all.put(StreamsConfig.producerPrefix(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION), 1);
  }

  /**
   * For a table that is built from the log and lost with its directory. At least once: records that
   * come again change nothing, since rows and streams' positions are written together, whereas
   * after an error exactly-once would delete rows that nothing restores.
   */
  private static void addBulk(Map<String, Object> all) {
    all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE);
    all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, COMMIT_MS_BULK);
    all.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, Runtime.getRuntime().availableProcessors());
    all.put(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, POLLED_BULK);
    all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), POLLED_BULK);
    all.put(
        StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG), 4 << 20);
  }

  private static void addPlacement(
      Map<String, Object> all, Placement placement, @Nullable String advertise) {
    all.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, placement.standbys());
    all.put(StreamsConfig.TASK_ASSIGNOR_CLASS_CONFIG, StayingAssignor.class.getName());
    all.put(Absence.SETTING, new Absence(placement.copyDelay(), InstantSource.system()));
    all.put(StreamsConfig.ACCEPTABLE_RECOVERY_LAG_CONFIG, ACCEPTABLE_LAG);
    all.put(StreamsConfig.PROBING_REBALANCE_INTERVAL_MS_CONFIG, PROBING_MS);
    if (placement.name() != null) {
      all.put(
          StreamsConfig.mainConsumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG),
          placement.name());
    }
    if (placement.rack() != null) {
      all.put(StreamsConfig.clientTagPrefix(RACK_TAG), placement.rack());
      all.put(StreamsConfig.RACK_AWARE_ASSIGNMENT_TAGS_CONFIG, RACK_TAG);
      all.put(StreamsConfig.consumerPrefix(ConsumerConfig.CLIENT_RACK_CONFIG), placement.rack());
    }
    if (advertise != null) {
      all.put(StreamsConfig.APPLICATION_SERVER_CONFIG, advertise);
    }
  }

  /**
   * A commit that is given up costs the task's rows: Kafka Streams throws them away and restores
   * them. So it waits for Kafka instead, and nothing else may give up before it does.
   */
  private static void addPatience(Map<String, Object> all, Tolerance tolerance) {
    int ms = (int) Math.min(Integer.MAX_VALUE / 2, tolerance.withoutKafka().toMillis());
    all.put(StreamsConfig.TASK_TIMEOUT_MS_CONFIG, (long) ms);
    all.put(StreamsConfig.producerPrefix(ProducerConfig.MAX_BLOCK_MS_CONFIG), ms);
    all.put(StreamsConfig.producerPrefix(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG), ms);
    all.put(
        StreamsConfig.producerPrefix(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG),
        Math.min(REQUEST_MS, ms / 2));
    all.put(
        StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG),
        ms + MAX_POLL_BEYOND_MS);
  }
}
