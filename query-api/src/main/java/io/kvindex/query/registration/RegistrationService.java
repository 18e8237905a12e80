// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.PublisherId;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Function;
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

/**
 * Decides what a registration means beside those there are, writes it, and answers once it is
 * durable and visible here. An equal registration is never written again: a new record would be a
 * new generation and hide everything the publisher announced so far. Thread-safe; calls block.
 */
public final class RegistrationService implements AutoCloseable {
  private static final int STRIPES = 64;

  private static final Logger LOG = LoggerFactory.getLogger(RegistrationService.class);

  private final RegistrationTable table;
  private final Producer<byte[], byte[]> producer;
  private final long timeoutNanos;
  private final OncePerMinute warnings = new OncePerMinute();
  // Two requests about one publisher through this replica go one after the other. Through two
  // replicas they may cross: the later record wins, as it would a moment later (see Generations).
  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];

  /**
   * @param clientConfig Kafka client settings, at least {@code bootstrap.servers}
   * @param timeout longest time a request may wait; beyond it is 503
   */
  public RegistrationService(
      RegistrationTable table, Map<String, Object> clientConfig, Duration timeout) {
    this.table = table;
    this.timeoutNanos = timeout.toNanos();
    producer = producer(clientConfig, (int) timeout.toMillis());
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new ReentrantLock();
    }
  }

  /**
   * @param ms longest time one write may take, metadata included
   */
  private static Producer<byte[], byte[]> producer(Map<String, Object> clientConfig, int ms) {
    Map<String, Object> config = new HashMap<>();
    config.put(ProducerConfig.ACKS_CONFIG, "all");
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    config.put(ProducerConfig.LINGER_MS_CONFIG, 0);
    config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, ms);
    config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Math.max(1, ms / 2));
    config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, ms);
    return new KafkaProducer<>(
        ClientKind.PRODUCER.settings(clientConfig, config),
        new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  /** Registers; returns when it is visible here. */
  public void register(RegisterRequest request) {
    register(request, (registered, wanted) -> {});
  }

  /**
   * Registers where a dialect has rules of its own.
   *
   * @param rule called with what is registered anywhere just before; throws to refuse
   */
  void register(RegisterRequest request, BiConsumer<RegistrationSnapshot, Registration> rule) {
    exclusively(
        request.registration().publisher(),
        deadline -> {
          rule.accept(table.snapshot(), request.registration());
          register(request, deadline);
        });
  }

  private void register(RegisterRequest request, long deadline) throws InterruptedException {
    Registration wanted = request.registration();
    RegistrationSnapshot snapshot = table.snapshot();
    RegistrationConflicts.checkProfile(snapshot, wanted);
    Registered current = snapshot.get(wanted.publisher());
    if (current == null) {
      write(wanted.publisher(), wanted, deadline);
      return;
    }
    Registration old = current.registration();
    Map<String, String> differences = RegistrationConflicts.differences(old, wanted);
    String lora = wanted.loraNames().get(0);
    if (!differences.isEmpty()) {
      if (!request.replace()) {
        throw RegistrationConflicts.conflict(old, differences);
      }
      write(wanted.publisher(), wanted, deadline);
    } else if (!old.loraNames().contains(lora)
        || !old.options()
            .loraPaths()
            .entrySet()
            .containsAll(wanted.options().loraPaths().entrySet())) {
      Set<String> names = new LinkedHashSet<>(old.loraNames());
      names.add(lora);
      Map<String, String> paths = new HashMap<>(old.options().loraPaths());
      paths.putAll(wanted.options().loraPaths());
      write(wanted.publisher(), current.withAdapters(List.copyOf(names), paths), deadline);
    } else {
      settle(wanted.publisher(), deadline);
    }
  }

  /**
   * A record that was crossed by another replica's began a generation although it names an older
   * one. Who has seen the record between them knows; once the topic is compacted nobody can see it
   * any more. So it is written again with the name it should have.
   */
  private void settle(PublisherId publisher, long deadline) throws InterruptedException {
    Registered now = table.snapshot().get(publisher);
    if (now != null && now.isCrossed()) {
      writeOnce(publisher, now.withLoraNames(now.registration().loraNames()), deadline);
    }
  }

  /**
   * Unregisters; returns when that is visible here.
   *
   * @param lora the only adapter to remove, null for the whole publisher
   * @return whether the publisher is gone; false if only an adapter is
   */
  public boolean unregister(PublisherId publisher, @Nullable String lora) {
    boolean[] gone = new boolean[1];
    exclusively(publisher, deadline -> gone[0] = unregister(publisher, lora, deadline) == null);
    return gone[0];
  }

  /**
   * Unregisters whole publishers; returns when that is visible here.
   *
   * @param choice called with what is registered anywhere; throws to refuse
   */
  void unregister(Function<RegistrationSnapshot, List<PublisherId>> choice) {
    interruptibly(this::refresh);
    for (PublisherId publisher : choice.apply(table.snapshot())) {
      exclusively(publisher, until -> write(publisher, null, until));
    }
  }

  /** What is left of the publisher. */
  private @Nullable Registration unregister(
      PublisherId publisher, @Nullable String lora, long deadline) throws InterruptedException {
    Registered current = table.snapshot().get(publisher);
    if (current == null || (lora != null && !current.registration().loraNames().contains(lora))) {
      throw ErrorCode.SERVICE_NOT_FOUND.because("service not found: " + publisher.displayName());
    }
    List<String> names = new ArrayList<>(current.registration().loraNames());
    names.remove(lora);
    Registration left = lora == null || names.isEmpty() ? null : current.withLoraNames(names);
    write(publisher, left, deadline);
    return left;
  }

  private void write(PublisherId publisher, @Nullable Registration registration, long deadline)
      throws InterruptedException {
    writeOnce(publisher, registration, deadline);
    settle(publisher, deadline);
  }

  /**
   * Writes a registration, or its end, and waits until that is visible here.
   *
   * @param registration null to unregister
   * @throws ApiException 503 if Kafka did not acknowledge in time, or it was not seen
   */
  private void writeOnce(PublisherId publisher, @Nullable Registration registration, long deadline)
      throws InterruptedException {
    byte[] key = publisher.key().getBytes(StandardCharsets.UTF_8);
    byte[] value = registration == null ? null : RegistrationCodec.encode(registration);
    RecordMetadata written;
    try {
      written =
          producer
              .send(new ProducerRecord<>(Topics.REGISTRATIONS, key, value))
              .get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException | KafkaException e) {
      if (warnings.allows()) {
        LOG.warn("registration of {} was not acknowledged: {}", publisher, e.toString());
      }
      throw notAcknowledged();
    }
    if (!table.awaitOffset(written.partition(), written.offset(), deadline)) {
      throw notAcknowledged();
    }
  }

  private static ApiException notAcknowledged() {
    return ErrorCode.REGISTRATION_TIMEOUT.because(
        "Kafka did not store the registration, or it was not seen, in time; sending it again is"
            + " safe");
  }

  private void exclusively(PublisherId publisher, Step step) {
    ReentrantLock stripe = stripes[Math.floorMod(publisher.hashCode(), STRIPES)];
    interruptibly(
        deadline -> {
          if (!stripe.tryLock(timeoutNanos, TimeUnit.NANOSECONDS)) {
            throw notAcknowledged();
          }
          try {
            refresh(deadline);
            step.run(deadline);
          } finally {
            stripe.unlock();
          }
        });
  }

  /** What another replica has written must be seen first, or it would be written again. */
  private void refresh(long deadline) throws InterruptedException {
    if (!table.refresh(deadline)) {
      throw notAcknowledged();
    }
  }

  private void interruptibly(Step step) {
    try {
      step.run(System.nanoTime() + timeoutNanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw notAcknowledged();
    }
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(2));
  }

  @FunctionalInterface
  private interface Step {
    void run(long deadlineNanos) throws InterruptedException;
  }
}
