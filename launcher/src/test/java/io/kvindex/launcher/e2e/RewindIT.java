// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.Main;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.launcher.process.Rebuild;
import io.kvindex.launcher.rewind.EventLog;
import io.kvindex.launcher.rewind.LogPart;
import io.kvindex.launcher.rewind.ReplayFrom;
import io.kvindex.launcher.rewind.ReplayPlan;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * A rebuild against the running table, and questions to the past against what was answered then.
 */
@Tag("broker")
class RewindIT {

  private static final long SEED = Long.getLong("kvindex.test.seed", System.nanoTime());
  private static final int BLOCK = 16;
  private static final int STAGES = 5;
  private static final int BATCHES = 120;
  private static final int PROMPTS = 30;
  private static final int ASKED_AGAIN = 3;

  @TempDir private Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /** What was answered at a moment to the prompts of its own seed. */
  private record Moment(Instant when, long seed, List<JsonNode> answers) {}

  private int run(String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out, true));
    commandLine.setErr(new PrintWriter(err, true));
    int code = commandLine.execute(arguments);
    System.out.println(
        "kvindex " + arguments[0] + " " + arguments[1] + ": " + code + "\n" + out + err);
    return code;
  }

  private Rebuild.Options options(AllInOne server, String from, String application) {
    return new Rebuild.Options(
        Map.of("bootstrap.servers", server.bootstrapServers()),
        ReplayFrom.parse(from),
        application,
        false,
        directory.resolve(application),
        "127.0.0.1",
        0,
        null);
  }

  @Test
  @Timeout(420)
  void shouldTellThePastAndEqualThePresent_whenRebuiltFromTheLog() throws Exception {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    try (LoadedEngines load = new LoadedEngines(3, SEED);
        AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      List<SimulatedEngine> engines = new ArrayList<>(load.engines());
      engines.forEach(engine -> api.register(engine, "default"));
      sendGarbage(server);
      List<Moment> moments = new ArrayList<>();
      for (int stage = 0; stage < STAGES; stage++) {
        if (stage == 2) {
          engines.get(0).restart();
        } else if (stage == 3) {
          engines.get(1).clear();
        } else if (stage == 4) {
          unregister(api, engines.remove(2).options().name());
        }
        moments.add(moment(api, engines, random, stage));
      }
      for (Moment moment : moments) {
        askAgain(server, moment);
      }
      compare(server, engines, random);
      swap(server, engines);
      forget(server, moments.get(0));
    }
  }

  /** Into the table's own partition. */
  private static void sendGarbage(AllInOne server) throws Exception {
    int partition = TablePartition.of("default", Api.MODEL, BLOCK, server.eventPartitions());
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", server.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      producer.send(new ProducerRecord<>(Topics.EVENTS, partition, null, new byte[] {1, 99})).get();
    }
  }

  private static void unregister(Api api, String instance) {
    api.post(
        "/unregister",
        Api.JSON
            .createObjectNode()
            .put("instance_id", instance)
            .put("modelname", Api.MODEL)
            .put("type", "vLLM")
            .put("block_size", BLOCK));
  }

  /** Something happens, and when it can be seen, answers are what the engines say. */
  private static Moment moment(Api api, List<SimulatedEngine> engines, Random random, int stage) {
    something(engines, random);
    long seed = SEED + stage;
    List<JsonNode> answers = new ArrayList<>();
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              answers.clear();
              answers.addAll(new Truth().checkPrompts(api, engines, seed, PROMPTS));
              answers.forEach(rows -> assertThat(rows).hasSize(engines.size()));
            });
    Instant when = Instant.now();
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10)); // the broker's clock has milliseconds
    return new Moment(when, seed, answers);
  }

  private static void something(List<SimulatedEngine> engines, Random random) {
    for (int i = 0; i < BATCHES; i++) {
      SimulatedEngine engine = engines.get(random.nextInt(engines.size()));
      engine.prefill(LoadedEngines.prompt(random), null, null);
      engine.flush();
    }
    engines.forEach(SimulatedEngine::flush);
  }

  private void askAgain(AllInOne server, Moment moment) throws Exception {
    Random random = new Random(moment.seed());
    for (int i = 0; i < ASKED_AGAIN; i++) {
      String tokens =
          Arrays.stream(LoadedEngines.prompt(random))
              .mapToObj(Integer::toString)
              .collect(Collectors.joining(","));
      assertThat(
              run(
                  "query-at",
                  moment.when().toString(),
                  "--kafka",
                  server.bootstrapServers(),
                  "--model",
                  Api.MODEL,
                  "--block-size",
                  Integer.toString(BLOCK),
                  "--tokens",
                  tokens,
                  "--json"))
          .isZero();
      assertThat(Api.JSON.readTree(out.toString()).path("default"))
          .as("prompt %d at %s", i, moment.when())
          .isEqualTo(moment.answers().get(i));
      assertThat(err.toString())
          .contains("left out of kvindex.events: 1 malformed or of a newer version");
    }
  }

  private void compare(AllInOne server, List<SimulatedEngine> engines, Random random)
      throws Exception {
    String live = server.uri().toString();
    try (Rebuild rebuild = Rebuild.start(options(server, "beginning", "kvindex-replay-whole"))) {
      assertThat(rebuild.plan().isWhole()).isTrue();
      assertThat(rebuild.plan().missing()).isEmpty();
      await().atMost(Duration.ofSeconds(60)).until(() -> rebuild.progress().isDone());
      assertThat(run("diff", live, rebuild.uri().toString())).isZero();
      assertThat(out.toString()).contains("the same").containsPattern("[1-9][0-9]* blocks");
      something(engines, random);
      assertThat(run("diff", live, rebuild.uri().toString())).as("both go on").isZero();

      assertNoTopics(server, "a rebuild has no changelog");
      assertThatThrownBy(() -> Rebuild.start(options(server, "beginning", "kvindex-replay-whole")))
          .hasMessageContaining("kvindex-replay-whole is in use by 1 process");
      assertThatThrownBy(() -> Rebuild.start(options(server, "beginning", "kvindex")))
          .hasMessageContaining("is the application that serves");
    }
    assertNoTopics(server, "nothing is left");
  }

  private static void assertNoTopics(AllInOne server, String why) throws Exception {
    try (Admin admin = admin(server)) {
      assertThat(admin.listTopics().names().get())
          .as(why)
          .noneMatch(topic -> topic.startsWith("kvindex-replay"));
    }
  }

  /** One process has no other replica to share its tables with, and changes over all the same. */
  private void swap(AllInOne server, List<SimulatedEngine> engines) {
    assertThat(
            run(
                "replay",
                "--swap",
                "--from",
                "beginning",
                "--kafka",
                server.bootstrapServers(),
                "--data-dir",
                directory.resolve("swap").toString()))
        .isZero();
    Api api = new Api(server.uri());
    assertThat(api.get("/cluster").path("application").asText()).isEqualTo("kvindex-table-1");
    new Truth().checkPrompts(api, engines, SEED, PROMPTS);
    assertThat(run("diff", server.uri().toString(), server.uri().toString())).isZero();
  }

  private static Admin admin(AllInOne server) {
    return Admin.create(Map.of("bootstrap.servers", server.bootstrapServers()));
  }

  /** Retention takes the first half. */
  private void forget(AllInOne server, Moment first) throws Exception {
    int partition = TablePartition.of("default", Api.MODEL, BLOCK, server.eventPartitions());
    try (Admin admin = admin(server)) {
      LogPart part = new EventLog(admin).parts().get(partition);
      TopicPartition events = new TopicPartition(Topics.EVENTS, partition);
      long half = part.end() / 2;
      admin.deleteRecords(Map.of(events, RecordsToDelete.beforeOffset(half))).all().get();

      ReplayPlan plan =
          ReplayPlan.of(new EventLog(admin), ReplayFrom.parse(first.when().toString()));
      assertThat(plan.isWhole()).isFalse();
      assertThat(String.join("\n", plan.missing()))
          .contains("retention no longer holds records 0 to " + (half - 1), "the oldest left is of")
          .contains("is degraded");
    }
    try (Rebuild rebuild = Rebuild.start(options(server, "beginning", "kvindex-replay-half"))) {
      await().atMost(Duration.ofSeconds(60)).until(() -> rebuild.progress().isDone());
      assertThat(rebuild.progress().degraded()).as("who went on from there").isNotEmpty();
      assertThat(run("diff", server.uri().toString(), rebuild.uri().toString(), "--limit", "3"))
          .isEqualTo(1);
      assertThat(out.toString()).contains("different", "only in A: block");
    }
    assertThat(
            run(
                "query-at",
                first.when().toString(),
                "--kafka",
                server.bootstrapServers(),
                "--model",
                Api.MODEL,
                "--tokens",
                "1,2"))
        .isEqualTo(1);
    assertThat(err.toString()).contains("nothing of that time is left", "its oldest record is of");
  }
}
