// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.testing;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.BrokerOptions;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** A broker with our topics, a registry to write to and an event log to read. */
public final class Site {

  private static final int EVENT_PARTITIONS = 4;

  private final Path dataDir;
  private final KafkaProducer<byte[], byte[]> producer;
  private final TopicReader<EventRecord> events;
  private final Map<String, TopicReader<ConsumerRecord<byte[], byte[]>>> topics =
      new ConcurrentHashMap<>();
  private EmbeddedBroker broker;

  /** Starts a broker with fresh topics. */
  private Site(Path dataDir) throws Exception {
    this.dataDir = dataDir;
    broker = EmbeddedBroker.start(dataDir);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
      new TopicCheck(admin, 30_000)
          .ensure(Topics.all(EVENT_PARTITIONS, (short) 1, Duration.ofDays(1), -1));
    }
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrap(), "acks", "all"),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    events =
        new TopicReader<>(
            bootstrap(), Topics.EVENTS, record -> EventRecordCodec.decode(record.value()));
  }

  /** The one of this JVM: each start and stop of a broker costs seconds. */
  public static Site ofJvm() {
    return Holder.SITE;
  }

  private static final class Holder {
    static final Site SITE = startForJvm();

    private static Site startForJvm() {
      try {
        Path dataDir = Files.createTempDirectory("kvindex-site");
        Site site = new Site(dataDir);
        Runtime.getRuntime().addShutdownHook(new Thread(site::end, "site-end"));
        return site;
      } catch (Exception e) {
        throw new IllegalStateException("no site to test with", e);
      }
    }
  }

  /** Where clients connect. */
  public String bootstrap() {
    return broker.bootstrapServers();
  }

  /** Stops the broker; nothing can be written. */
  public void stopBroker() {
    broker.close();
  }

  /** Starts it again at the same address. */
  public void startBroker() {
    int port = Integer.parseInt(bootstrap().substring(bootstrap().lastIndexOf(':') + 1));
    broker = EmbeddedBroker.start(BrokerOptions.in(dataDir).withPort(port));
  }

  /** A registration of a vLLM engine. */
  public static Registration engine(
      String instance, String endpoint, @Nullable String replayEndpoint) {
    return engine(instance, endpoint, replayEndpoint, SourceType.VLLM);
  }

  /** A registration of any type. */
  public static Registration engine(
      String instance, String endpoint, @Nullable String replayEndpoint, SourceType type) {
    return new Registration(
        new PublisherId(instance, "default", 0),
        endpoint,
        replayEndpoint,
        type,
        new TableId("default", "llama", FakeEngine.BLOCK_SIZE, HashProfile.XXH3_DEFAULT),
        List.of(""),
        null,
        SourceOptions.of(CopyPolicy.COUNT),
        null);
  }

  /** The same, limited to a topic. */
  public static Registration withTopic(Registration r, String topic) {
    SourceOptions options = r.options();
    return new Registration(
        r.publisher(),
        r.endpoint(),
        r.replayEndpoint(),
        r.type(),
        r.table(),
        r.loraNames(),
        r.namespace(),
        new SourceOptions(
            options.copies(),
            options.pools(),
            topic,
            options.persistentMedia(),
            options.lowerTier(),
            options.shards(),
            options.expirySeconds(),
            options.addressTiers(),
            options.poolGroups(),
            options.clearScope(),
            options.removalScope(),
            options.loraPaths(),
            false),
        r.continues());
  }

  /** Registers; the generation. */
  public long register(Registration registration) throws Exception {
    return write(record(registration.publisher(), RegistrationCodec.encode(registration)));
  }

  /** Unregisters; the offset of the tombstone. */
  public long unregister(PublisherId publisher) throws Exception {
    return write(record(publisher, null));
  }

  private static ProducerRecord<byte[], byte[]> record(
      PublisherId publisher, byte @Nullable [] value) {
    return new ProducerRecord<>(
        Topics.REGISTRATIONS, publisher.key().getBytes(StandardCharsets.UTF_8), value);
  }

  /** Writes progress as another bridge would; the offset it got. */
  public long progress(int partition, BridgeProgress progress) throws Exception {
    return write(
        new ProducerRecord<>(
            Topics.BRIDGE_PROGRESS,
            partition,
            progress.publisher().key().getBytes(StandardCharsets.UTF_8),
            BridgeProgressCodec.encode(progress)));
  }

  private long write(ProducerRecord<byte[], byte[]> record) throws Exception {
    return producer.send(record).get().offset();
  }

  /** All event records of an instance there are now, in order. */
  public List<EventRecord> events(String instance) {
    return events.read().stream()
        .filter(event -> event.stream().publisher().instanceId().equals(instance))
        .toList();
  }

  /** All records of a topic there are now. */
  public List<ConsumerRecord<byte[], byte[]>> read(String topic) {
    return topics
        .computeIfAbsent(topic, name -> new TopicReader<>(bootstrap(), name, record -> record))
        .read();
  }

  private void end() {
    producer.close(Duration.ZERO);
    broker.close();
    try (Stream<Path> files = Files.walk(dataDir)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException e) {
      // The JVM is ending and nobody reads a log any more; the system's temp cleaner takes it.
    }
  }
}
