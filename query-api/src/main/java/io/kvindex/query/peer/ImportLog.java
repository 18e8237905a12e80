// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.peer.PeerMeters.Outcome;
import io.kvindex.query.registration.Registered;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes imported blocks to the events topic. The producer is made when it is first needed: most
 * replicas never import. For one thread.
 */
final class ImportLog implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ImportLog.class);

  /** Some 130 KiB: a record is far below what brokers refuse. */
  private static final int BLOCKS_PER_RECORD = 8_192;

  private final Supplier<Producer<byte[], byte[]>> open;
  private final PeerMeters meters;
  private final OncePerMinute warnings = new OncePerMinute();
  private @Nullable Producer<byte[], byte[]> producer;

  ImportLog(Supplier<Producer<byte[], byte[]>> open, PeerMeters meters) {
    this.open = open;
    this.meters = meters;
  }

  /**
   * @param kafka client settings, at least {@code bootstrap.servers}
   */
  static Producer<byte[], byte[]> producer(Map<String, Object> kafka) {
    Map<String, Object> config = new HashMap<>();
    config.put(ProducerConfig.ACKS_CONFIG, "all");
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    config.put(ProducerConfig.LINGER_MS_CONFIG, 0);
    config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 10_000);
    config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 30_000);
    config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000);
    return new KafkaProducer<>(
        ClientKind.PRODUCER.settings(kafka, config),
        new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  /** Writes all blocks of a publisher; whether each gets there is counted. */
  void write(Registered registered, PeerBlocks blocks) {
    Registration registration = registered.registration();
    boolean tokens = !registration.table().hashProfile().algorithm().isEngineNamed();
    List<KvEvent> events = new ArrayList<>();
    int[] size = {0};
    blocks.stored(
        tokens,
        event -> {
          if (size[0] + event.engineHashes().size() > BLOCKS_PER_RECORD) {
            send(registered, events, size[0]);
            events.clear();
            size[0] = 0;
          }
          events.add(event);
          size[0] += event.engineHashes().size();
        });
    if (!events.isEmpty()) {
      send(registered, events, size[0]);
    }
  }

  private void send(Registered registered, List<KvEvent> events, int blocks) {
    Registration registration = registered.registration();
    EventRecord record =
        PeerImport.record(
            registration.table(),
            registration.publisher(),
            registration.type(),
            registered.generation(),
            events);
    try {
      Producer<byte[], byte[]> to = opened();
      int partitions = to.partitionsFor(Topics.EVENTS).size();
      to.send(
          new ProducerRecord<>(
              Topics.EVENTS,
              TablePartition.of(record.table(), partitions),
              record.stream().key().getBytes(StandardCharsets.UTF_8),
              EventRecordCodec.encode(record)),
          (metadata, problem) -> sent(registration.publisher(), blocks, problem));
    } catch (KafkaException e) {
      sent(registration.publisher(), blocks, e);
    }
  }

  /** Any thread. */
  private void sent(PublisherId publisher, int blocks, @Nullable Exception problem) {
    meters.blocks(problem == null ? Outcome.IMPORTED : Outcome.FAILED, blocks);
    if (problem != null && warnings.allows()) {
      LOG.warn("blocks of publisher={} not imported: {}", publisher, problem.toString());
    }
  }

  private Producer<byte[], byte[]> opened() {
    Producer<byte[], byte[]> made = producer;
    if (made == null) {
      made = open.get();
      producer = made;
    }
    return made;
  }

  @Override
  public void close() {
    Producer<byte[], byte[]> made = producer;
    if (made != null) {
      made.close(Duration.ofSeconds(2));
    }
  }
}
