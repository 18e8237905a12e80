// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.normalise.Normaliser;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Writes a record of a life ahead of its turn, as a bridge does that was frozen while another one
 * took over and then goes on: right in itself, but its predecessor comes later. For one thread.
 */
final class EarlyRecord implements AutoCloseable {

  private static final Duration POLL = Duration.ofMillis(100);
  private static final long LOOK_BACK = 2_000;

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final KafkaProducer<byte[], byte[]> producer;

  EarlyRecord(String kafka) {
    consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", kafka),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", kafka, "linger.ms", 0, "max.block.ms", 10_000),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  /**
   * Writes the batch {@code last + 2} of an engine while Kafka has it up to {@code last}.
   *
   * @param payload that batch
   * @return whether it really was early
   */
  boolean write(ChaosEngine engine, long last, byte[] payload)
      throws InterruptedException, ExecutionException {
    PublisherId publisher = new PublisherId(engine.name(), engine.tenant(), 0);
    Registration registration = registration(publisher);
    if (registration == null) {
      return false;
    }
    int count = consumer.partitionsFor(Topics.EVENTS).size();
    TopicPartition events =
        new TopicPartition(Topics.EVENTS, TablePartition.of(registration.table(), count));
    StreamId stream = StreamId.of(publisher);
    EventRecord newest = newest(events, stream);
    DecodeResult decoded =
        EngineDecoder.forSource(registration.type())
            .decode(payload, registration.table().blockSize());
    if (newest == null
        || newest.position().eventId() != last
        || !(decoded instanceof EngineBatch sent)) {
      return false; // the bridge was quicker, or is down
    }
    NormalisedBatch batch = Normaliser.of(registration).normalise(sent);
    EventRecord early =
        new EventRecord(
            newest.table(),
            stream,
            newest.type(),
            newest.traits(),
            newest.incarnation(),
            EventRecord.Position.whole(last + 2),
            last + 1,
            batch.timestampMicros(),
            batch.events());
    long offset =
        producer
            .send(
                new ProducerRecord<>(
                    events.topic(),
                    events.partition(),
                    stream.key().getBytes(StandardCharsets.UTF_8),
                    EventRecordCodec.encode(early)))
            .get()
            .offset();
    return isEarly(events, stream, last + 1, offset);
  }

  private @Nullable Registration registration(PublisherId publisher) {
    Registration[] found = new Registration[1];
    List<TopicPartition> all =
        consumer.partitionsFor(Topics.REGISTRATIONS).stream()
            .map(one -> new TopicPartition(one.topic(), one.partition()))
            .toList();
    consumer.assign(all);
    consumer.seekToBeginning(all);
    toEnd(
        all,
        record -> {
          if (new String(record.key(), StandardCharsets.UTF_8).equals(publisher.key())) {
            found[0] = record.value() == null ? null : RegistrationCodec.decode(record.value());
          }
        });
    return found[0];
  }

  private @Nullable EventRecord newest(TopicPartition events, StreamId stream) {
    EventRecord[] found = new EventRecord[1];
    consumer.assign(List.of(events));
    long end = consumer.endOffsets(List.of(events)).getOrDefault(events, 0L);
    consumer.seek(events, Math.max(0, end - LOOK_BACK));
    toEnd(
        List.of(events),
        record -> {
          EventRecord event = EventRecordCodec.decode(record.value());
          if (event.stream().equals(stream) && !event.isOpening()) {
            found[0] = event;
          }
        });
    return found[0];
  }

  private boolean isEarly(TopicPartition events, StreamId stream, long predecessor, long offset) {
    boolean[] early = {true};
    consumer.seek(events, Math.max(0, offset - LOOK_BACK));
    toEnd(
        List.of(events),
        record -> {
          EventRecord event = EventRecordCodec.decode(record.value());
          early[0] &=
              record.offset() >= offset
                  || !event.stream().equals(stream)
                  || event.position().eventId() != predecessor;
        });
    return early[0];
  }

  private void toEnd(
      List<TopicPartition> partitions, Consumer<ConsumerRecord<byte[], byte[]>> sink) {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    while (partitions.stream()
        .anyMatch(one -> consumer.position(one) < ends.getOrDefault(one, 0L))) {
      consumer.poll(POLL).forEach(sink);
    }
  }

  @Override
  public void close() {
    consumer.close();
    producer.close(Duration.ofSeconds(1));
  }
}
