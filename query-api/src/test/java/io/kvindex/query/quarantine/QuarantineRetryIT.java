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
import io.kvindex.model.topic.TopicSpec;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
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
  private static final int MANY = 20_000;
  private static final byte[] PAYLOAD = new byte[512];
  private static final Map<String, Object> KAFKA =
      Map.of("bootstrap.servers", SharedBroker.bootstrapServers());

  private final String name = SharedBroker.unique("quarantine");
  private final PublisherId publisher = new PublisherId(name, "default", 0);
  private final AtomicInteger tried = new AtomicInteger();
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
        .extracting(
            e -> e.frame().sequence(), Quarantine.Entry::current, Quarantine.Entry::readable)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(3L, false, false),
            org.assertj.core.groups.Tuple.tuple(4L, true, false));
    assertThat(quarantine.list(publisher::equals, 1)).hasSize(1);
    assertThat(quarantine.retry(publisher::equals, false))
        .extracting(Retried::frames, Retried::readable, Retried::rebuilding)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(1L, false, false));
    assertThat(claims(registered.partition())).isEmpty();
    refusal = null;
    assertThat(quarantine.retry(publisher::equals, false))
        .extracting(Retried::frames, Retried::readable, Retried::rebuilding)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(1L, true, true));
    await().atMost(SOON).until(() -> claims(registered.partition()).size() == 1);
    BridgeProgress claim =
        BridgeProgressCodec.decode(claims(registered.partition()).get(0).value());
    assertThat(claim.life()).isNull();
    assertThat(claim.generation()).isEqualTo(one.generation());
  }

  /** All it announced would be hidden, and nobody could say it again. */
  @Test
  void shouldLeaveThePublisherAlone_whenItHasNoReplayAndNobodyForces() throws Exception {
    RecordMetadata registered =
        write(Topics.REGISTRATIONS, RegistrationCodec.encode(registration("")));
    Registered one = new Registered(registration(""), registered.offset());
    Quarantine quarantine = quarantine(one, 7);
    keep(new Incarnation(one.generation(), 7, 0), 4);
    refusal = null;
    assertThat(quarantine.retry(who -> true, false))
        .singleElement()
        .satisfies(
            retried -> {
              assertThat(retried.readable()).isTrue();
              assertThat(retried.rebuilding()).isFalse();
              assertThat(retried.note()).startsWith("no replay_endpoint").contains("--force");
            });
    assertThat(claims(registered.partition())).isEmpty();
    assertThat(quarantine.retry(who -> true, true))
        .singleElement()
        .satisfies(
            retried -> {
              assertThat(retried.rebuilding()).isTrue();
              assertThat(retried.note()).contains("no replay_endpoint", "hidden");
            });
    await().atMost(SOON).until(() -> claims(registered.partition()).size() == 1);
  }

  /** A publisher that sends nothing but what nobody can decode, and one with little, long ago. */
  @Test
  void shouldDecodeNoMoreThanIsAsked_whenThousandsAreInQuarantine() throws Exception {
    Registered one = new Registered(registration(), 3);
    Quarantine quarantine = quarantine(one, 7);
    PublisherId noisy = new PublisherId(name + "-noisy", "default", 0);
    keepMany(publisher, new Incarnation(3, 6, 0), 0, 2);
    keepMany(publisher, new Incarnation(3, 7, 0), 2, 5);
    keepMany(noisy, new Incarnation(4, 1, 0), 0, MANY);
    assertThat(quarantine.list(who -> true, 100))
        .hasSize(100)
        .extracting(entry -> entry.frame().sequence())
        .isEqualTo(LongStream.range(MANY - 100, MANY).boxed().toList());
    // Nobody is registered who could have sent them, so there is nothing to try.
    assertThat(tried).hasValue(0);
    assertThat(quarantine.list(publisher::equals, 2))
        .extracting(entry -> entry.frame().sequence())
        .containsExactly(3L, 4L);
    assertThat(tried).hasValue(2);
    assertThat(quarantine.retry(publisher::equals, false))
        .extracting(Retried::frames, Retried::readable, Retried::rebuilding)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(3L, false, false));
    assertThat(tried).hasValue(5);
  }

  @Test
  void shouldTryTheDecodersUntilTheyReadOne_whenThousandsAreReadableNow() throws Exception {
    RecordMetadata registered =
        write(Topics.REGISTRATIONS, RegistrationCodec.encode(registration()));
    Registered one = new Registered(registration(), registered.offset());
    Quarantine quarantine = quarantine(one, 7);
    keepMany(publisher, new Incarnation(one.generation(), 6, 0), 0, MANY);
    keepMany(publisher, new Incarnation(one.generation(), 7, 0), MANY, 2 * MANY);
    refusal = null;
    assertThat(quarantine.list(publisher::equals, 10)).hasSize(10);
    assertThat(tried).hasValue(10);
    assertThat(quarantine.retry(publisher::equals, false))
        .extracting(Retried::frames, Retried::readable, Retried::rebuilding)
        .containsExactly(org.assertj.core.groups.Tuple.tuple((long) MANY, true, true));
    assertThat(tried).hasValue(11);
  }

  @Test
  void shouldLeaveAnExistingTopicAsItIs_whenOnlyItsRetentionDiffers() throws Exception {
    TopicSpec wanted =
        Topics.all(2, (short) 1, Duration.ofDays(1), -1).stream()
            .filter(topic -> topic.name().equals(Topics.QUARANTINE))
            .findFirst()
            .orElseThrow();
    assertThat(wanted.config()).containsKeys("segment.ms", "retention.ms", "retention.bytes");
    TopicSpec old =
        new TopicSpec(
            name,
            wanted.partitions(),
            wanted.replication(),
            Map.of("cleanup.policy", "delete", "retention.ms", "86400000"),
            wanted.holds());
    TopicSpec now =
        new TopicSpec(
            name, wanted.partitions(), wanted.replication(), wanted.config(), wanted.holds());
    try (Admin admin = Admin.create(KAFKA)) {
      TopicCheck check = new TopicCheck(admin, 30_000);
      check.ensure(List.of(old));
      check.ensure(List.of(now));
      ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, name);
      Config config =
          Objects.requireNonNull(
              admin.describeConfigs(List.of(resource)).all().get().get(resource));
      assertThat(config.get("segment.ms").value()).isEqualTo("604800000");
      ConfigResource shared = new ConfigResource(ConfigResource.Type.TOPIC, Topics.QUARANTINE);
      Config made =
          Objects.requireNonNull(admin.describeConfigs(List.of(shared)).all().get().get(shared));
      wanted
          .config()
          .forEach((key, value) -> assertThat(made.get(key).value()).as(key).isEqualTo(value));
    }
  }

  private Quarantine quarantine(Registered one, long life) {
    BridgeProgress claimed = BridgeProgress.claim(one.registration(), one.generation(), null);
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
            List.of(),
            null,
            null,
            null);
    return new Quarantine(
        KAFKA,
        SOON,
        () -> RegistrationSnapshot.of(List.of(one), Media.standard()),
        who -> who.equals(publisher) ? now : null,
        (registration, payload) -> {
          tried.incrementAndGet();
          return refusal;
        });
  }

  private Registration registration() {
    return registration(",\"replay_endpoint\":\"tcp://h:2\"");
  }

  private Registration registration(String more) {
    String json =
        "{\"v\":1,\"instance_id\":\""
            + name
            + "\",\"tenant_id\":\"default\",\"dp_rank\":0,\"endpoint\":\"tcp://h:1\","
            + "\"type\":\"vLLM\",\"modelname\":\"m\",\"block_size\":16,\"hash_algorithm\":\"xxh3\","
            + "\"hash_seed\":\"1337\",\"lora_names\":[\"\"],\"copies\":\""
            + CopyPolicy.COUNT.name().toLowerCase(java.util.Locale.ROOT)
            + "\""
            + more
            + "}";
    return RegistrationCodec.decode(json.getBytes(StandardCharsets.UTF_8));
  }

  private void keep(Incarnation life, long sequence) throws Exception {
    write(
        Topics.QUARANTINE,
        QuarantineCodec.encode(
            new QuarantinedFrame(life, sequence, 1, "not_msgpack", 1, new byte[] {(byte) 0xc1})));
  }

  private static void keepMany(PublisherId who, Incarnation life, long from, long to) {
    byte[] key = who.key().getBytes(StandardCharsets.UTF_8);
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(KAFKA, new ByteArraySerializer(), new ByteArraySerializer())) {
      for (long sequence = from; sequence < to; sequence++) {
        byte[] frame =
            QuarantineCodec.encode(
                new QuarantinedFrame(life, sequence, 1, "not_msgpack", PAYLOAD.length, PAYLOAD));
        // Closing waits for it; a lost one shows in what is listed.
        var unused = producer.send(new ProducerRecord<>(Topics.QUARANTINE, key, frame));
      }
    }
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
