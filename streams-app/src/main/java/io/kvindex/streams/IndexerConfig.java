// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.store.PrefixRocksConfig;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;

/**
 * Settings of an indexer.
 *
 * @param kafka settings of all its Kafka clients; {@code bootstrap.servers} at least
 * @param applicationId name all replicas of a site share; part of the changelog topic's name
 * @param stateDir where RocksDB lives
 * @param groupInstanceId stable name of this replica where it is the only one (a restart after a
 *     crash then waits for no session timeout), null = none
 * @param advertise {@code host:port} other replicas reach this one at, null = none
 * @param standbys copies of each partition on other replicas
 * @param limits bounds of what is kept beside the blocks
 */
public record IndexerConfig(
    Map<String, String> kafka,
    String applicationId,
    Path stateDir,
    @Nullable String groupInstanceId,
    @Nullable String advertise,
    int standbys,
    Limits limits) {

  /** Application id where nobody says otherwise. */
  public static final String DEFAULT_APPLICATION = "kvindex";

  /** Standbys see a row when it is committed. */
  private static final int COMMIT_MS = 100;

  /** Without standbys nobody waits for a commit, and each one holds up the table for a while. */
  private static final int COMMIT_MS_ALONE = 1_000;

  public IndexerConfig {
    kafka = Map.copyOf(kafka);
    if (!kafka.containsKey("bootstrap.servers")) {
      throw new IllegalArgumentException("kafka settings need bootstrap.servers");
    }
  }

  /** Defaults for a cluster at {@code bootstrapServers}. */
  public static IndexerConfig at(String bootstrapServers, Path stateDir) {
    return new IndexerConfig(
        Map.of("bootstrap.servers", bootstrapServers),
        DEFAULT_APPLICATION,
        stateDir,
        null,
        null,
        1,
        Limits.DEFAULT);
  }

  /** For a site with one indexer: a stable name in its group and no standby. */
  public IndexerConfig alone(String name) {
    return new IndexerConfig(kafka, applicationId, stateDir, name, advertise, 0, limits);
  }

  /** The same with an address for other replicas. */
  public IndexerConfig advertisedAs(String hostAndPort) {
    return new IndexerConfig(
        kafka, applicationId, stateDir, groupInstanceId, hostAndPort, standbys, limits);
  }

  /**
   * What Kafka Streams is started with. The classic protocol keeps a store open when a standby
   * becomes active; exactly-once makes a table's rows, its changelog and its place in the log one
   * thing, at no cost in freshness, since queries see rows before the commit (ADR 0001).
   */
  Properties streamsProperties() {
    Map<String, Object> all = new HashMap<>(kafka);
    all.put(StreamsConfig.APPLICATION_ID_CONFIG, applicationId);
    all.put(StreamsConfig.STATE_DIR_CONFIG, stateDir.toString());
    all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, standbys == 0 ? COMMIT_MS_ALONE : COMMIT_MS);
    all.put(StreamsConfig.POLL_MS_CONFIG, 100);
    all.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 1);
    all.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, standbys);
    all.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    all.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1);
    all.put(StreamsConfig.TASK_TIMEOUT_MS_CONFIG, 600_000L);
    all.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, PrefixRocksConfig.class);
    all.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), 6_000);
    all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), 1_500);
    all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.FETCH_MIN_BYTES_CONFIG), 1);
    all.put(StreamsConfig.restoreConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 5_000);
    all.put(
        StreamsConfig.restoreConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG),
        8 << 20);
    // Rows wait for nobody but the commit, which sends what is left.
    all.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 50);
    all.put(StreamsConfig.producerPrefix(ProducerConfig.BATCH_SIZE_CONFIG), 128 << 10);
    // A transaction's first batch may be told to come again while the one before is completing:
    // with several under way those behind it would be refused as out of order, and loudly.
    all.put(StreamsConfig.producerPrefix(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION), 1);
    if (groupInstanceId != null) {
      all.put(
          StreamsConfig.mainConsumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG),
          groupInstanceId);
    }
    if (advertise != null) {
      all.put(StreamsConfig.APPLICATION_SERVER_CONFIG, advertise);
    }
    Properties properties = new Properties();
    properties.putAll(all);
    return properties;
  }
}
