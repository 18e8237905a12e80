// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.replica;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to {@code kvindex.replicas}. That is seldom, so each write has a producer of its own and
 * nothing is kept between. Thread-safe; nothing but {@link #forget} waits.
 */
public final class ReplicaLog implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaLog.class);
  private static final int ANSWER_MS = 5_000;
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  private final Map<String, Object> kafka;
  private final ReplicaDirectory directory;
  private final ThreadPoolExecutor writing =
      new ThreadPoolExecutor(
          0,
          1,
          1,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            Thread thread = new Thread(task, "kvindex-replicas-log");
            thread.setDaemon(true);
            return thread;
          },
          new ThreadPoolExecutor.DiscardPolicy()); // one write at a time; who calls does so again

  private long writtenNs = System.nanoTime() - PAUSE_NS;
  private final OncePerMinute warnings = new OncePerMinute();

  /**
   * @param kafka settings of all its Kafka clients
   * @param directory what the topic says now
   */
  public ReplicaLog(Map<String, Object> kafka, ReplicaDirectory directory) {
    this.kafka = Map.copyOf(kafka);
    this.directory = directory;
  }

  /**
   * Has a replica's record written, unless the topic has it, or one was written less than a second
   * ago. To be called again and again: so a record is written again that was lost with the topic.
   */
  public synchronized void keep(ReplicaRecord record) {
    long now = System.nanoTime();
    if (now - writtenNs >= PAUSE_NS
        && directory.caughtUp()
        && !record.equals(directory.of(record.id().address()))) {
      writtenNs = now;
      writing.execute(
          () -> {
            try {
              write(record.id().address(), record);
            } catch (KafkaException e) {
              warn(record, e);
            }
          });
    }
  }

  private synchronized void warn(ReplicaRecord record, KafkaException e) {
    if (warnings.allows()) {
      LOG.warn(
          "other replicas are not told of {} yet, trying again: {}",
          record.id().address(),
          e.toString());
    }
  }

  /**
   * Takes all records of a copy out; returns when that is durable. One that lives comes back.
   *
   * @return whose they were
   * @throws KafkaException if Kafka did not take it within some seconds
   */
  public List<String> forget(String copy) {
    List<String> addresses = directory.addressesOf(copy);
    addresses.forEach(address -> write(address, null));
    return addresses;
  }

  private void write(String address, @Nullable ReplicaRecord record) {
    Map<String, Object> config =
        Map.of(
            ProducerConfig.ACKS_CONFIG,
            "all",
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            true,
            ProducerConfig.LINGER_MS_CONFIG,
            0,
            ProducerConfig.MAX_BLOCK_MS_CONFIG,
            ANSWER_MS,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
            ANSWER_MS / 2,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
            ANSWER_MS);
    KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            ClientKind.PRODUCER.settings(kafka, config),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    try {
      producer
          .send(
              new ProducerRecord<>(
                  Topics.REPLICAS,
                  ReplicaRecord.key(address),
                  record == null ? null : record.encode()))
          .get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted while " + address + " was written", e);
    } catch (ExecutionException e) {
      throw new KafkaException("Kafka did not take the record of " + address, e.getCause());
    } finally {
      producer.close(Duration.ZERO);
    }
  }

  @Override
  public void close() {
    writing.shutdownNow();
  }
}
