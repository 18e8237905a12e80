// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.model.kafka.ClientKind;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.LogAndSkipOnInvalidTimestamp;
import org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor;

/** What Kafka Streams is started with in a process of a copy. */
public final class CopySettings {

  /** The shortest that brokers allow unless told otherwise. */
  private static final int SESSION_MS = 6_000;

  /** Committed offsets are for people, who look at the group's lag; nothing reads them. */
  private static final long COMMIT_MS = 60_000;

  /**
   * Records end a wait at once. What has to wait for its end is the start of a table's load, and a
   * stop.
   */
  private static final long POLL_MS = 250;

  /** A day: see {@link #of}. */
  private static final long TASK_TIMEOUT_MS = 86_400_000;

  private CopySettings() {}

  /**
   * As Kafka Streams wants them; a new object, the caller's to change.
   *
   * @param kafka settings of all Kafka clients, see {@link ClientKind}; {@code bootstrap.servers}
   *     at least
   * @param applicationId the copy's: its group
   * @param member name of this process in the group, the same after a restart
   * @param stateDir Kafka Streams' own; checkpoints must not be in it, since it deletes what it
   *     does not know
   * @param threads stream threads, 1 at least
   */
  public static Properties of(
      Map<String, Object> kafka, String applicationId, String member, Path stateDir, int threads) {
    Properties all = new Properties();
    all.put(StreamsConfig.APPLICATION_ID_CONFIG, applicationId);
    all.put(StreamsConfig.STATE_DIR_CONFIG, stateDir.toString());
    all.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, threads);
    // A table says itself how far it is and skips what comes again: transactions would add nothing.
    all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE);
    all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, COMMIT_MS);
    all.put(StreamsConfig.POLL_MS_CONFIG, POLL_MS);
    // As in ClientKind.
    all.put(StreamsConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
    // A task reads one partition: there is no other one whose records could be older.
    all.put(StreamsConfig.MAX_TASK_IDLE_MS_CONFIG, StreamsConfig.MAX_TASK_IDLE_MS_DISABLED);
    // There is nothing a standby could follow. Another copy is what stands by.
    all.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, 0);
    // With Kafka Streams' own protocol SeekingClients is not asked for consumers.
    all.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, "classic");
    // Tables are too large to be loaded elsewhere for balance. Tasks without changelog count as
    // stateless, for which Kafka Streams' own assignor does not look where they were.
    all.put(StreamsConfig.TASK_ASSIGNOR_CLASS_CONFIG, StickyTaskAssignor.class.getName());
    // What times out is the commit alone, while Kafka is away. Nobody needs it, and a stream thread
    // that gave up for it (after Kafka's five minutes) would help nobody.
    all.put(StreamsConfig.TASK_TIMEOUT_MS_CONFIG, TASK_TIMEOUT_MS);
    // The log's time is the broker's. Should a record have none, its table is told that it is
    // missing; Kafka Streams' own choice would end every thread that comes to it.
    all.put(
        StreamsConfig.DEFAULT_TIMESTAMP_EXTRACTOR_CLASS_CONFIG,
        LogAndSkipOnInvalidTimestamp.class.getName());
    all.put(CommonClientConfigs.RETRY_BACKOFF_MAX_MS_CONFIG, ClientKind.RETRY_BACKOFF_MAX_MS);
    all.put(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, ClientKind.RETRY_BACKOFF_MAX_MS);
    // A place outside the log, where its end was lost or its beginning deleted: what is there is
    // read, and the first record tells. "none" would end the thread instead.
    all.put(consumer(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    // A member with a name is given its partitions back after a restart, at once and whatever is
    // left of its session, and nothing moves in between.
    all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG), member);
    // So long do partitions of a process that died stand still in its copy.
    all.put(consumer(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), SESSION_MS);
    // A third of it, as Kafka advises.
    all.put(consumer(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), SESSION_MS / 3);
    // One record is enough for an answer: waiting for more would make events visible later.
    all.put(consumer(ConsumerConfig.FETCH_MIN_BYTES_CONFIG), 1);
    // Ours have a consumer's prefix or are Streams' own: a site's settings for all clients stay
    // below them, those with a prefix and those of Streams replace them.
    all.putAll(kafka);
    return all;
  }

  private static String consumer(String name) {
    return StreamsConfig.consumerPrefix(name);
  }
}
