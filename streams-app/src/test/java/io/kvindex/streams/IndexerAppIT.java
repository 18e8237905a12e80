// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.TopicSpec;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.RandomLog;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The indexer on a real broker: warm and cold starts, and a standby. */
@Timeout(120)
class IndexerAppIT {

  private static final long SEED = 7;

  @TempDir private Path dir;
  private final Map<String, String> kafka =
      Map.of("bootstrap.servers", SharedBroker.bootstrapServers());
  private final RandomLog log = new RandomLog(new Random(SEED));
  private final String application = SharedBroker.unique("it");

  /** Makes the end of what was sent recognisable. */
  private final Engine marker = new Engine(SharedBroker.unique("marker"));

  private long last;

  @BeforeEach
  void topics() throws Exception {
    System.out.println("IndexerAppIT seed " + SEED);
    try (Admin admin = Admin.create(Map.copyOf(kafka))) {
      List<TopicSpec> specs = Topics.all(1, (short) 1, Duration.ofDays(1), -1);
      new TopicCheck(admin, 20_000).ensure(specs);
    }
  }

  private IndexerConfig config(String name, int standbys) {
    IndexerConfig base =
        IndexerConfig.at(SharedBroker.bootstrapServers(), dir.resolve(name))
            .advertisedAs(name + ":1");
    return new IndexerConfig(
        base.kafka(),
        application,
        base.stateDir(),
        null,
        base.advertise(),
        standbys,
        base.limits());
  }

  private static IndexerApp start(IndexerConfig config) {
    return IndexerApp.start(config, 1, new SimpleMeterRegistry());
  }

  private void send(int records) {
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(Map.copyOf(kafka), new StringSerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < records; i++) {
        send(producer, log.next());
      }
      EventRecord end = marker.batch();
      last = end.position().eventId();
      send(producer, end);
    }
  }

  private static void send(KafkaProducer<String, byte[]> producer, EventRecord record) {
    producer.send(
        new ProducerRecord<>(
            Topics.EVENTS, 0, record.stream().key(), EventRecordCodec.encode(record)));
  }

  private boolean sees(IndexerApp app) {
    PartitionView view = app.view(0);
    if (view == null) {
      return false;
    }
    var position = view.position(marker.stream());
    return position != null && position.covers(last);
  }

  private static void until(BooleanSupplier met, String what) {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!met.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited for: " + what).isLessThan(deadline);
      LockSupport.parkNanos(5_000_000);
    }
  }

  private List<String> answers(IndexerApp app) {
    List<String> answers = new ArrayList<>();
    PartitionView view = java.util.Objects.requireNonNull(app.view(0));
    log.prompts().forEach(prompt -> answers.add(prompt + ": " + Answers.text(view, prompt)));
    assertThat(String.join("", answers)).contains("/GPU");
    return answers;
  }

  private static void delete(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  @Test
  void shouldAnswerTheSame_whenStartedWarmAndCold() throws IOException {
    IndexerConfig config = config("one", 0);
    List<String> before;
    try (IndexerApp app = start(config)) {
      send(400);
      until(() -> sees(app), "all records");
      before = answers(app);
    }
    long warmNs = System.nanoTime();
    try (IndexerApp app = start(config)) {
      until(() -> app.notReadyReason() == null, "ready after a warm start");
      assertThat(sees(app)).isTrue();
      assertThat(answers(app)).isEqualTo(before);
      System.out.println("warm start ms " + (System.nanoTime() - warmNs) / 1_000_000);
      send(100);
      until(() -> sees(app), "records after the warm start");
      before = answers(app);
    }
    delete(dir.resolve("one"));
    long coldNs = System.nanoTime();
    try (IndexerApp app = start(config)) {
      until(() -> app.notReadyReason() == null, "ready after a cold start");
      assertThat(sees(app)).isTrue();
      assertThat(answers(app)).isEqualTo(before);
      System.out.println("cold start ms " + (System.nanoTime() - coldNs) / 1_000_000);
    }
  }

  @Test
  void shouldFollowAndTakeOver_whenItIsAStandby() {
    IndexerApp first = start(config("one", 1));
    send(300);
    until(() -> sees(first), "records on the first");
    try (IndexerApp second = start(config("two", 1))) {
      until(() -> second.notReadyReason() == null, "the second is ready");
      until(() -> first.notReadyReason() == null, "the first is ready");
      assertThat(answers(second)).isEqualTo(answers(first));
      send(100);
      until(() -> sees(first) && sees(second), "records on both");
      assertThat(answers(second)).isEqualTo(answers(first));
      first.close();
      send(100);
      until(() -> sees(second), "records on the one left");
      assertThat(second.notReadyReason()).isNull();
    } finally {
      first.close();
    }
  }
}
