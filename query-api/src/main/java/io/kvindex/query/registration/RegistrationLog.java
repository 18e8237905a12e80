// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.PublisherId;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes to the registrations topic and waits for the acknowledgement. Thread-safe. */
final class RegistrationLog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegistrationLog.class);

  private final Producer<byte[], byte[]> producer;

  /**
   * @param timeout longest time one write may take, metadata included
   */
  RegistrationLog(Map<String, Object> clientConfig, Duration timeout) {
    Map<String, Object> config = new HashMap<>();
    int ms = (int) timeout.toMillis();
    config.put(ProducerConfig.ACKS_CONFIG, "all");
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    config.put(ProducerConfig.LINGER_MS_CONFIG, 0);
    config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, ms);
    config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Math.max(1, ms / 2));
    config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, ms);
    producer =
        new KafkaProducer<>(
            ClientKind.PRODUCER.settings(clientConfig, config),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  /**
   * Writes a registration, or its end.
   *
   * @param registration null to unregister
   * @throws ApiException 503 if Kafka did not acknowledge in time
   */
  RecordMetadata write(
      PublisherId publisher, @Nullable Registration registration, long deadlineNanos)
      throws InterruptedException {
    byte[] key = publisher.key().getBytes(StandardCharsets.UTF_8);
    byte[] value = registration == null ? null : RegistrationCodec.encode(registration);
    try {
      return producer
          .send(new ProducerRecord<>(Topics.REGISTRATIONS, key, value))
          .get(Math.max(1, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException | KafkaException e) {
      LOG.warn("registration of {} was not acknowledged: {}", publisher, e.toString());
      throw notAcknowledged();
    }
  }

  static ApiException notAcknowledged() {
    return ApiException.of(
        ErrorCode.REGISTRATION_TIMEOUT,
        "Kafka did not store the registration, or it was not seen, in time; sending it again is"
            + " safe");
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(2));
  }
}
