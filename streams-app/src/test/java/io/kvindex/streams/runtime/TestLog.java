// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.broker.SharedBroker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** A topic of the shared broker: records of some keys on all partitions, and what they come to. */
final class TestLog implements AutoCloseable {

  static final int PARTITIONS = 4;
  private static final int KEYS = 20;

  final String topic = SharedBroker.unique("log");
  final Map<String, Object> kafka = Map.of("bootstrap.servers", SharedBroker.bootstrapServers());
  final Admin admin = Admin.create(kafka);
  private final AtomicLong written = new AtomicLong();
  private final Random random;
  private KafkaProducer<byte[], byte[]> producer;
  private @Nullable ScheduledExecutorService writing;

  TestLog(long seed) {
    random = new Random(seed);
    create();
    producer = producer();
  }

  private void create() {
    // A topic that was just deleted may be there for a moment.
    await()
        .ignoreExceptionsMatching(TestLog::exists)
        .until(
            () -> {
              admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
              return true;
            });
  }

  private static boolean exists(Throwable failure) {
    return failure instanceof ExecutionException
        && failure.getCause() instanceof TopicExistsException;
  }

  /**
   * One request at a time: where a partition of a new topic has no leader yet, batches behind one
   * that is refused would be taken, and an idempotent producer would try in vain for minutes.
   */
  private KafkaProducer<byte[], byte[]> producer() {
    Map<String, Object> settings = new HashMap<>(kafka);
    settings.put("enable.idempotence", false);
    settings.put("max.in.flight.requests.per.connection", 1);
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Appends so many records to each partition and waits until they are there. */
  void append(int each) {
    for (int i = 0; i < each; i++) {
      for (int p = 0; p < PARTITIONS; p++) {
        send(p);
      }
    }
    producer.flush();
  }

  private synchronized void send(int partition) {
    String key = "key-" + random.nextInt(KEYS);
    String value = written.incrementAndGet() + " " + random.nextLong();
    producer.send(
        new ProducerRecord<>(
            topic,
            partition,
            key.getBytes(StandardCharsets.UTF_8),
            value.getBytes(StandardCharsets.UTF_8)));
  }

  /** Appends all the time, to partitions in turn. */
  void startWriting(int perSecond) {
    long everyMs = 10;
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    timer.scheduleAtFixedRate(
        () -> IntStream.range(0, (int) (perSecond * everyMs / 1000)).forEach(i -> send(i % 4)),
        0,
        everyMs,
        TimeUnit.MILLISECONDS);
    writing = timer;
  }

  void stopWriting() throws InterruptedException {
    ScheduledExecutorService timer = writing;
    if (timer != null) {
      timer.shutdown();
      timer.awaitTermination(10, TimeUnit.SECONDS);
      writing = null;
    }
    producer.flush();
  }

  /** Deletes all records before an offset, on all partitions, as retention does. */
  void deleteBefore(long offset) throws Exception {
    Map<TopicPartition, RecordsToDelete> cut = new HashMap<>();
    partitions().forEach(p -> cut.put(p, RecordsToDelete.beforeOffset(offset)));
    admin.deleteRecords(cut).all().get();
  }

  /** The topic is deleted and created again, with so many other records on each partition. */
  void recreate(int each) throws Exception {
    producer.close();
    admin.deleteTopics(List.of(topic)).all().get();
    create();
    producer = producer();
    append(each);
  }

  private List<TopicPartition> partitions() {
    return IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(topic, p)).toList();
  }

  /** Offset of the last record of each partition. */
  long[] lasts() throws Exception {
    Map<TopicPartition, OffsetSpec> all = new HashMap<>();
    partitions().forEach(p -> all.put(p, OffsetSpec.latest()));
    var ends = admin.listOffsets(all).all().get();
    return partitions().stream()
        .mapToLong(p -> Objects.requireNonNull(ends.get(p)).offset() - 1)
        .toArray();
  }

  /** What is there now, by partition, read by a plain consumer. */
  List<List<ConsumerRecord<byte[], byte[]>>> read() throws Exception {
    long[] lasts = lasts();
    List<List<ConsumerRecord<byte[], byte[]>>> all =
        partitions().stream()
            .<List<ConsumerRecord<byte[], byte[]>>>map(p -> new ArrayList<>())
            .toList();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(kafka, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(partitions());
      consumer.seekToBeginning(partitions());
      while (partitions().stream().anyMatch(p -> consumer.position(p) <= lasts[p.partition()])) {
        consumer.poll(Duration.ofMillis(50)).forEach(r -> all.get(r.partition()).add(r));
      }
    }
    return all;
  }

  /** The plain fold of records up to an offset, on top of an earlier state. */
  static ChainTable.State fold(
      ChainTable.State before, List<ConsumerRecord<byte[], byte[]>> records, long upTo) {
    ChainTable.State state = before;
    for (ConsumerRecord<byte[], byte[]> record : records) {
      if (record.offset() > before.offset() && record.offset() <= upTo) {
        state =
            state.plus(
                record.offset(),
                record.key(),
                record.value(),
                RecordSum.of(record.timestamp(), record.key(), record.value()));
      }
    }
    return state;
  }

  @Override
  public void close() throws Exception {
    stopWriting();
    producer.close();
    admin.close();
  }
}
