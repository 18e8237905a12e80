// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.IndexerApp;
import io.kvindex.streams.IndexerConfig;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * What does a block operation cost in the whole topology: store, changelog, index, transactions and
 * the broker in the same process? Fills a table, then stores 16 blocks and removes the 16 oldest in
 * turn, one record each; the records lie in the topic before the indexer starts on them, so that it
 * works as fast as it can. Then how long a clean restart and a cold restore take.
 *
 * <p>Arguments: resident blocks (default 1,000,000), operations (default 1,000,000).
 */
public final class TableLoad {

  private static final int RUN = 16;
  private static final int ENGINES = 8;
  private static final TableId TABLE = new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT);
  private static final Duration BOUND = Duration.ofMinutes(30);

  private final EmbeddedBroker broker;
  private final KafkaProducer<String, byte[]> producer;
  private final long[] lastIds = new long[ENGINES];
  private long records;

  private TableLoad(EmbeddedBroker broker) {
    this.broker = broker;
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers(), "linger.ms", "5"),
            new StringSerializer(),
            new ByteArraySerializer());
  }

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    int resident = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
    int operations = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000_000;
    Path directory = Files.createTempDirectory("table-load");
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("broker"))) {
      TableLoad load = new TableLoad(broker);
      load.createTopics();
      for (int i = 0; i < resident; i += RUN) {
        load.store(i);
      }
      load.measure("fill", resident, directory.resolve("state"));
      for (int i = 0; i < operations / 2; i += RUN) {
        load.store(resident + i);
        load.remove(i);
      }
      load.measure("store + remove", operations, directory.resolve("state"));
      load.measure("clean restart", resident, directory.resolve("state"));
      load.measure("cold restore", resident, directory.resolve("elsewhere"));
      load.producer.close();
    }
    System.out.println("files left in " + directory);
  }

  private void createTopics() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      new TopicCheck(admin, 10_000).ensure(Topics.all(1, (short) 1, Duration.ofDays(1), -1));
    }
  }

  private void store(int from) {
    long[] hashes = hashes(from);
    KvEvent event =
        new KvEvent.Stored(
            Place.of("GPU", 0),
            StatedContext.NONE,
            Parent.ROOT,
            Hashes.wrap(hashes),
            Hashes.wrap(hashes),
            Hashes.EMPTY);
    send(from, event);
  }

  private void remove(int from) {
    send(from, new KvEvent.Removed(Place.of("GPU", 0), Hashes.wrap(hashes(from)), Hashes.EMPTY));
  }

  private void send(int from, KvEvent event) {
    int engine = from / RUN % ENGINES;
    StreamId stream = StreamId.of(new PublisherId("engine-" + engine, "default", 0));
    long id = ++lastIds[engine];
    EventRecord record =
        new EventRecord(
            TABLE,
            stream,
            SourceType.VLLM,
            SourceTraits.of(CopyPolicy.COUNT),
            new Incarnation(1, 1, 0),
            Position.whole(id),
            id == 1 ? null : Long.valueOf(id - 1),
            0,
            List.of(event));
    producer.send(
        new ProducerRecord<>(Topics.EVENTS, 0, stream.key(), EventRecordCodec.encode(record)));
    records++;
  }

  private void measure(String what, long operations, Path state) throws Exception {
    producer.flush();
    long wall = System.nanoTime();
    long cpu = cpu();
    IndexerConfig config = IndexerConfig.at(broker.bootstrapServers(), state).alone("table-load");
    try (IndexerApp app = IndexerApp.start(config, 1, new SimpleMeterRegistry())) {
      awaitEnd(app);
      double seconds = (System.nanoTime() - wall) / 1e9;
      System.out.printf(
          Locale.ROOT,
          "%s: %.1f s, %,.0f/s, %.2f us CPU each (broker included)%n",
          what,
          seconds,
          operations / seconds,
          (cpu() - cpu) / 1e3 / operations);
    }
  }

  private void awaitEnd(IndexerApp app) throws InterruptedException {
    long until = System.nanoTime() + BOUND.toNanos();
    while (System.nanoTime() < until) {
      PartitionView view = app.view(0);
      if (view != null && view.complete() && view.appliedOffset() >= records - 1) {
        return;
      }
      Thread.sleep(20);
    }
    throw new IllegalStateException("not at the end of the log after " + BOUND);
  }

  private static long[] hashes(int from) {
    long[] hashes = new long[RUN];
    Arrays.setAll(hashes, i -> RowSpike.hash(from + i + 1));
    return hashes;
  }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
