// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.quarantine.QuarantineCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.quarantine.Quarantine.Retried;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.sandbox.broker.SharedBroker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A decoder that refuses a batch at first and reads it later, against a real broker. */
@Tag("broker")
class QuarantineRetryIT {

  private static final Duration SOON = Duration.ofSeconds(30);
  private static final Map<String, Object> KAFKA =
      Map.of("bootstrap.servers", SharedBroker.bootstrapServers());

  private final String name = SharedBroker.unique("quarantine");
  private final PublisherId publisher = new PublisherId(name, "default", 0);
  private volatile @Nullable String refusal = "no decoder yet";

  @BeforeAll
  static void topics() throws Exception {
    try (Admin admin = Admin.create(KAFKA)) {
      new TopicCheck(admin, 30_000).ensure(Topics.all(2, (short) 1, Duration.ofDays(1), -1));
    }
  }

  @Test
  void shouldClaimALife_whenTheDecoderReadsWhatItRefused() throws Exception {
    RecordMetadata registered =
        write(Topics.REGISTRATIONS, RegistrationCodec.encode(registration()));
    Registered one = new Registered(registration(), registered.offset());
    Quarantine quarantine = quarantine(one, 7);
    keep(new Incarnation(one.generation(), 6, 0), 3);
    keep(new Incarnation(one.generation(), 7, 0), 4);
    assertThat(quarantine.list(publisher::equals, 10))
        .extracting(e -> e.frame().sequence(), QuarantineEntry::current, QuarantineEntry::readable)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(3L, false, false),
            org.assertj.core.groups.Tuple.tuple(4L, true, false));
    assertThat(quarantine.list(publisher::equals, 1)).hasSize(1);
    assertThat(quarantine.retry(publisher::equals, false))
        .extracting(Retried::frames, Retried::readable, Retried::rebuilding)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(1L, 0L, false));
    assertThat(claims(registered.partition())).isEmpty();
    refusal = null;
    assertThat(quarantine.retry(publisher::equals, false))
        .extracting(Retried::frames, Retried::readable, Retried::rebuilding)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(1L, 1L, true));
    await().atMost(SOON).until(() -> claims(registered.partition()).size() == 1);
    BridgeProgress claim =
        BridgeProgressCodec.decode(claims(registered.partition()).get(0).value());
    assertThat(claim.life()).isNull();
    assertThat(claim.generation()).isEqualTo(one.generation());
  }

  private Quarantine quarantine(Registered one, long life) {
    BridgeProgress claimed = BridgeProgress.claim(one.registration(), one.generation());
    BridgeProgress now =
        new BridgeProgress(
            claimed.publisher(),
            claimed.table(),
            claimed.type(),
            claimed.generation(),
            life,
            0,
            null,
            0,
            claimed.state(),
            null,
            Map.of(),
            Map.of(),
            List.of());
    return new Quarantine(
        KAFKA,
        SOON,
        () -> RegistrationSnapshot.of(List.of(one), Media.standard()),
        who -> who.equals(publisher) ? now : null,
        (registration, payload) -> refusal);
  }

  private Registration registration() {
    String json =
        "{\"v\":1,\"instance_id\":\""
            + name
            + "\",\"tenant_id\":\"default\",\"dp_rank\":0,\"endpoint\":\"tcp://h:1\","
            + "\"type\":\"vLLM\",\"modelname\":\"m\",\"block_size\":16,\"hash_algorithm\":\"xxh3\","
            + "\"hash_seed\":\"1337\",\"lora_names\":[\"\"],\"copies\":\""
            + CopyPolicy.COUNT.name().toLowerCase(java.util.Locale.ROOT)
            + "\"}";
    return RegistrationCodec.decode(json.getBytes(StandardCharsets.UTF_8));
  }

  private void keep(Incarnation life, long sequence) throws Exception {
    write(
        Topics.QUARANTINE,
        QuarantineCodec.encode(
            new QuarantinedFrame(life, sequence, 1, "not_msgpack", 1, new byte[] {(byte) 0xc1})));
  }

  private RecordMetadata write(String topic, byte[] value) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(KAFKA, new ByteArraySerializer(), new ByteArraySerializer())) {
      byte[] key = publisher.key().getBytes(StandardCharsets.UTF_8);
      return producer.send(new ProducerRecord<>(topic, key, value)).get();
    }
  }

  /** Progress written for the publisher in one partition. */
  private List<ConsumerRecord<byte[], byte[]>> claims(int partition) {
    TopicPartition source = new TopicPartition(Topics.BRIDGE_PROGRESS, partition);
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(KAFKA, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(List.of(source));
      consumer.seekToBeginning(List.of(source));
      long end = Objects.requireNonNull(consumer.endOffsets(List.of(source)).get(source));
      List<ConsumerRecord<byte[], byte[]>> mine = new java.util.ArrayList<>();
      while (consumer.position(source) < end) {
        consumer
            .poll(Duration.ofMillis(50))
            .forEach(
                record -> {
                  if (publisher.key().equals(new String(record.key(), StandardCharsets.UTF_8))) {
                    mine.add(record);
                  }
                });
      }
      return mine;
    }
  }
}
