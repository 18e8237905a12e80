// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.kvindex.launcher.Main;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.launcher.rewind.EventLog;
import io.kvindex.launcher.rewind.LogPart;
import io.kvindex.model.PublisherId;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.site.TopicRecreatedException;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Topics that are not the ones they were, and registrations that crossed: nobody is silenced. */
@Tag("broker")
@Timeout(180)
class RecreatedTopicsIT {

  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int BLOCK = 16;
  private static final int[] OLD = prompt(1);
  private static final int[] NEW = prompt(2);

  @TempDir private Path directory;
  private SimulatedEngine busy;
  private SimulatedEngine idle;

  private static int[] prompt(int seed) {
    return IntStream.range(0, 8 * BLOCK).map(i -> seed * 1_000 + i).toArray();
  }

  @BeforeEach
  void startEngines() {
    busy = EngineOptions.vllm("busy").blockSize(BLOCK).start();
    idle = EngineOptions.vllm("idle").blockSize(BLOCK).start();
  }

  @AfterEach
  void stopEngines() {
    busy.close();
    idle.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        Topics.REGISTRATIONS,
        Topics.EVENTS,
        Topics.REGISTRATIONS + "," + Topics.BRIDGE_PROGRESS
      })
  void shouldRefuseUntilRepaired_whenTopicsWereCreatedAgain(String topics) throws Exception {
    try (AllInOne server = start()) {
      Api api = new Api(server.uri());
      List.of(busy, idle).forEach(engine -> api.register(engine, "default"));
      List.of(busy, idle).forEach(engine -> prefill(engine, OLD));
      awaitTruth(api, OLD);
    }
    delete(topics);
    idle.restart();

    assertThatThrownBy(this::start)
        .isInstanceOf(TopicRecreatedException.class)
        .hasMessageContaining(topics.replace(",", ", "))
        .hasMessageContaining("deleted and created again")
        .hasMessageContaining("kvindex repair");
    assertThat(repair()).contains("a new epoch has begun", topics.replace(",", ", "));
    assertThat(repair()).contains("nothing to repair");

    try (AllInOne server = start()) {
      Api api = new Api(server.uri());
      List.of(busy, idle).forEach(engine -> api.register(engine, "default"));
      awaitTruth(api, OLD);
      List.of(busy, idle).forEach(engine -> prefill(engine, NEW));
      awaitTruth(api, NEW);
      awaitTruth(api, OLD);
      await().atMost(SOON).until(() -> isActive(api, "busy") && isActive(api, "idle"));
      assertNoTableIsBeyondItsLog(server, api);
    }
    try (AllInOne server = start()) {
      awaitTruth(new Api(server.uri()), NEW);
    }
  }

  /** Else a copy that is behind would seem to lack nothing. */
  private static void assertNoTableIsBeyondItsLog(AllInOne server, Api api) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", server.bootstrapServers()))) {
      List<LogPart> log = new EventLog(admin).parts();
      assertThat(api.get("/digests").path("partitions"))
          .hasSize(log.size())
          .allSatisfy(
              table ->
                  assertThat(table.path("applied_offset").asLong())
                      .isLessThan(log.get(table.path("partition").asInt()).end()));
    }
  }

  @Test
  void shouldBeginANewEpoch_whenForcedAlthoughTopicsAreTheSitesOwn() throws Exception {
    long before;
    try (AllInOne server = start()) {
      Api api = new Api(server.uri());
      List.of(busy, idle).forEach(engine -> api.register(engine, "default"));
      prefill(busy, OLD);
      awaitTruth(api, OLD);
      before = api.listener("busy").path("generation").asLong();
    }

    assertThat(repair("--force"))
        .contains("a new epoch has begun; start bridges and indexes again")
        .doesNotContain("created again");

    try (AllInOne server = start()) {
      Api api = new Api(server.uri());
      await().atMost(SOON).until(() -> isActive(api, "busy") && isActive(api, "idle"));
      assertThat(api.listener("busy").path("generation").asLong())
          .isGreaterThanOrEqualTo(before + (1L << 44));
      awaitTruth(api, OLD);
      prefill(busy, NEW);
      awaitTruth(api, NEW);
    }
  }

  @Test
  void shouldShowEvents_whenTwoReplicasCrossed() throws Exception {
    try (AllInOne server = start()) {
      Api api = new Api(server.uri());
      api.register(busy, "default");
      api.register(idle, "default");
      prefill(busy, OLD);
      awaitTruth(api, OLD);
      long first = api.listener("busy").path("generation").asLong();
      Registration registration = registration(server, "busy");
      write(server, registration);
      write(server, registration.withLoraNames(List.of("", "sql"), first));
      await().atMost(SOON).until(() -> isActive(api, "busy"));
      prefill(busy, NEW);
      awaitTruth(api, NEW);
      awaitTruth(api, OLD);
      assertThat(api.listener("busy").path("generation").asLong()).isGreaterThan(first + 1);
      await().atMost(SOON).until(() -> isActive(api, "busy"));
    }
  }

  private AllInOne start() throws InterruptedException {
    return AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
  }

  private static void prefill(SimulatedEngine engine, int[] tokens) {
    engine.prefill(tokens, null, null);
    engine.flush();
  }

  private void awaitTruth(Api api, int[] tokens) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              for (SimulatedEngine engine : List.of(busy, idle)) {
                new Truth().check(api.query("default", tokens, null, BLOCK), engine, tokens, null);
              }
            });
  }

  private static boolean isActive(Api api, String instance) {
    return api.listener(instance).path("state").asText().equals("active")
        && api.listener(instance).path("lag_batches").asLong(-1) == 0;
  }

  private void delete(String topics) throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("kafka"));
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      admin.deleteTopics(Arrays.asList(topics.split(","))).all().get();
    }
  }

  private String repair(String... flags) {
    StringWriter out = new StringWriter();
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out, true));
    List<String> arguments = new ArrayList<>(List.of("repair", "--data-dir", directory.toString()));
    arguments.addAll(List.of(flags));
    assertThat(commandLine.execute(arguments.toArray(String[]::new))).isZero();
    return out.toString();
  }

  private static void write(AllInOne server, Registration registration) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", server.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      producer
          .send(
              new ProducerRecord<>(
                  Topics.REGISTRATIONS,
                  registration.publisher().key().getBytes(StandardCharsets.UTF_8),
                  RegistrationCodec.encode(registration)))
          .get();
    }
  }

  private static Registration registration(AllInOne server, String instance) {
    String key = new PublisherId(instance, "default", 0).key();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", server.bootstrapServers()),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> all =
          IntStream.range(0, Topics.CONTROL_PARTITIONS)
              .mapToObj(i -> new TopicPartition(Topics.REGISTRATIONS, i))
              .toList();
      consumer.assign(all);
      consumer.seekToBeginning(all);
      for (int i = 0; i < 100; i++) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
          if (new String(record.key(), StandardCharsets.UTF_8).equals(key)) {
            return RegistrationCodec.decode(record.value());
          }
        }
      }
    }
    throw new AssertionError("no registration of " + instance);
  }
}
