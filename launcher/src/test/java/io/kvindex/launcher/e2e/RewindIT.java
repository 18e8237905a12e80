// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.e2e.PastAnswers.Moment;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.launcher.process.ReplayedCopy;
import io.kvindex.launcher.rewind.EventLog;
import io.kvindex.launcher.rewind.LogPart;
import io.kvindex.launcher.rewind.ReplayFrom;
import io.kvindex.launcher.rewind.ReplayPlan;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
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

/**
 * A copy made from the log against the one that serves, and questions to the past against what was
 * answered then.
 */
@Tag("broker")
class RewindIT {

  private static final long SEED = TestSeed.of(RewindIT.class);
  private static final int BLOCK = 16;
  private static final int STAGES = 5;
  private static final int BATCHES = 60;
  private static final int PROMPTS = 16;
  private static final int ASKED_AGAIN = 1;

  @TempDir private Path directory;

  private final CommandRun command = new CommandRun();

  private ReplayedCopy fromBeginning(AllInOne server, String copy) throws Exception {
    return ReplayedCopy.start(
        new ReplayedCopy.Options(
            Map.of("bootstrap.servers", server.bootstrapServers()),
            ReplayFrom.parse("beginning"),
            copy,
            directory.resolve(copy),
            "127.0.0.1",
            0));
  }

  @Test
  @Timeout(420)
  void shouldTellThePastAndEqualThePresent_whenRebuiltFromTheLog() throws Exception {
    Random random = new Random(SEED);
    try (LoadedEngines load = new LoadedEngines(3, SEED);
        SimulatedEngine sglang =
            EngineOptions.sglang("sglang").gpuBlocks(400).hostBlocks(400).start();
        AdapterEngine adapters = new AdapterEngine(SEED);
        OddPublishers odd = new OddPublishers();
        AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api api = new Api(server.uri());
      List<SimulatedEngine> engines = new ArrayList<>(load.engines());
      engines.forEach(engine -> api.register(engine, "default"));
      api.post(
          "/register",
          Api.registration(sglang, sglang.endpoint(), "default").put("type", "SGLang"));
      engines.add(sglang);
      adapters.register(api);
      odd.begin(api);
      Instant begun = PastAnswers.now();
      sendGarbage(server);
      List<Moment> moments = new ArrayList<>();
      for (int stage = 0; stage < STAGES; stage++) {
        adapters.work(BATCHES / STAGES);
        if (stage == 1) {
          odd.goOn(api);
        } else if (stage == 2) {
          engines.get(0).restart();
        } else if (stage == 3) {
          engines.get(1).clear();
        } else if (stage == 4) {
          unregister(api, engines.remove(2).options().name());
        }
        moments.add(moment(api, engines, random, stage));
      }
      PastAnswers past = new PastAnswers(command, server.bootstrapServers());
      for (Moment moment : moments) {
        past.askAgain(moment, ASKED_AGAIN);
        assertThat(command.err())
            .contains("left out of kvindex.events: 1 malformed or of a newer version");
      }
      OddPublishers.assertPast(past, begun, PastAnswers.now());
      Consumer<Api> others =
          side -> {
            odd.assertHeld(side);
            adapters.assertHeld(side);
          };
      await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> others.accept(api));
      compare(server, engines, random, others);
      replay(server);
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
    return new Moment(PastAnswers.now(), seed, answers);
  }

  private static void something(List<SimulatedEngine> engines, Random random) {
    for (int i = 0; i < BATCHES; i++) {
      SimulatedEngine engine = engines.get(random.nextInt(engines.size()));
      engine.prefill(LoadedEngines.prompt(random), null, null);
      engine.flush();
    }
    engines.forEach(SimulatedEngine::flush);
  }

  /**
   * @param others asserts what is held beside the engines, by one copy or the other
   */
  private void compare(
      AllInOne server, List<SimulatedEngine> engines, Random random, Consumer<Api> others)
      throws Exception {
    String live = server.uri().toString();
    try (ReplayedCopy copy = fromBeginning(server, "whole")) {
      assertThat(copy.plan().isWhole()).isTrue();
      assertThat(copy.plan().missing()).isEmpty();
      await().atMost(Duration.ofSeconds(60)).until(() -> copy.progress().isDone());
      assertThat(command.run("diff", live, copy.uri().toString())).isZero();
      assertThat(command.out()).contains("the same").containsPattern("[1-9][0-9]* blocks");
      Api rebuilt = new Api(copy.uri());
      await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> others.accept(rebuilt));
      something(engines, random);
      assertThat(command.run("diff", live, copy.uri().toString())).as("both go on").isZero();
      assertThatThrownBy(() -> fromBeginning(server, "all"))
          .hasMessageContaining("copy all is in use by 1 process");
    }
    something(engines, random);
    try (ReplayedCopy copy = fromBeginning(server, "whole")) {
      assertThat(copy.isKept()).isTrue();
      await().atMost(Duration.ofSeconds(60)).until(() -> copy.progress().isDone());
      assertThat(command.run("diff", live, copy.uri().toString())).as("where it was").isZero();
    }
    try (Admin admin = admin(server)) {
      assertThat(admin.listTopics().names().get())
          .as("nothing of a copy is in Kafka but its group")
          .noneMatch(topic -> topic.contains("whole"));
    }
  }

  /** Whoever runs the command is told what it left out. */
  private void replay(AllInOne server) {
    assertThat(
            command.run(
                "replay",
                "--exit",
                "--from",
                "beginning",
                "--kafka",
                server.bootstrapServers(),
                "--data-dir",
                directory.resolve("command").toString()))
        .isZero();
    assertThat(command.out())
        .contains("left out: 1 records that can not be read")
        .doesNotContain("the log was whole");
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
    try (ReplayedCopy copy = fromBeginning(server, "half")) {
      await().atMost(Duration.ofSeconds(60)).until(() -> copy.progress().isDone());
      assertThat(copy.progress().degraded()).as("who went on from there").isNotEmpty();
      assertThat(command.run("diff", server.uri().toString(), copy.uri().toString())).isEqualTo(2);
      assertThat(command.out())
          .containsPattern(
              "A \\(copy all\\) was folded from offset 0 on, B \\(copy half\\) was folded from offset [1-9]")
          .contains("not comparable");
    }
    assertThat(
            command.run(
                "query-at",
                first.when().toString(),
                "--kafka",
                server.bootstrapServers(),
                "--model",
                Api.MODEL,
                "--tokens",
                "1,2"))
        .isEqualTo(1);
    assertThat(command.err()).contains("nothing of that time is left", "its oldest record is of");
  }
}
