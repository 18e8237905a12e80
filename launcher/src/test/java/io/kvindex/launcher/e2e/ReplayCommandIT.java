// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.site.SiteCheck;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.checkpoint.Replacement;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the flags of {@code kvindex replay} do, on a log of a few records that nobody serves. */
@Tag("broker")
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReplayCommandIT {

  private static final TableId TABLE =
      new TableId("default", Api.MODEL, 4, HashProfile.XXH3_DEFAULT);
  private static final int[] PROMPT = IntStream.range(0, 16).toArray();
  private static final int BLOCKS = 4;
  private static final int PARTITIONS = 2;
  private static final long SECONDS = 60;

  private Path data;
  private EmbeddedBroker broker;
  private Admin admin;
  private int records;

  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    data = directory.resolve("data");
    broker = EmbeddedBroker.start(directory.resolve("kafka"));
    admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
    new TopicCheck(admin, TimeUnit.SECONDS.toMillis(SECONDS))
        .ensure(Topics.all(PARTITIONS, (short) 1, Duration.ofDays(7), -1));
    // As a site's first process does, before there are events.
    new SiteCheck(
            admin,
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            Duration.ofSeconds(SECONDS))
        .verify();
    for (int i = 0; i < 3; i++) {
      write();
    }
  }

  @AfterAll
  void stop() {
    admin.close();
    broker.close();
  }

  /** Another instance holds the prompt's blocks. */
  private void write() throws Exception {
    HeldContext context = new HeldContext(TABLE, "", null, "", "", "engine-" + records, 0);
    EventRecord stored = context.stored(PROMPT);
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            new StringSerializer(),
            new ByteArraySerializer())) {
      producer
          .send(
              new ProducerRecord<>(
                  Topics.EVENTS,
                  TablePartition.of(TABLE, PARTITIONS),
                  stored.stream().key(),
                  EventRecordCodec.encode(stored)))
          .get();
    }
    records++;
  }

  /** A copy from the beginning, in a thread of its own; an interrupt ends it as Ctrl-C does. */
  private final class Replay implements AutoCloseable {
    private final CommandRun command = new CommandRun();
    private final FutureTask<Integer> task;
    private final Thread thread;

    Replay(String... flags) {
      task = new FutureTask<>(() -> command.run(replay("beginning", flags)));
      thread = new Thread(task, "replay");
      thread.start();
    }

    /** Its exit code; fails if it does not end by itself. */
    int exitCode() throws Exception {
      return task.get(SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws InterruptedException {
      thread.interrupt();
      thread.join(TimeUnit.SECONDS.toMillis(SECONDS));
    }
  }

  private String[] replay(String from, String... flags) {
    List<String> arguments = new ArrayList<>(List.of("replay", "--from", from, "--kafka"));
    arguments.add(broker.bootstrapServers());
    arguments.addAll(List.of("--data-dir", data.toString()));
    arguments.addAll(List.of(flags));
    return arguments.toArray(String[]::new);
  }

  private List<String> groups() throws Exception {
    return admin.listGroups().all().get().stream().map(GroupListing::groupId).toList();
  }

  private Path directoryOf(String copy) {
    return data.resolve("replay").resolve(copy);
  }

  @Test
  void shouldEndWhenAllIsRead_whenToldToExit() throws Exception {
    try (Replay replay = new Replay("--exit")) {
      assertThat(replay.exitCode()).isZero();
      assertThat(replay.command.out())
          .contains("copy replay-beginning, " + records + " records")
          .contains(records + " records with " + BLOCKS * records + " block operations")
          .contains("the log was whole", "ready at http://127.0.0.1:");
    }
  }

  @Test
  void shouldGoOnFromWhereItWas_whenItIsStartedAgain() throws Exception {
    String[] named = {"--copy", "named"};
    try (Replay replay = new Replay(named)) {
      Api api = ready(replay);
      awaitAllBlocks(api);
      write();
      awaitAllBlocks(api);
      assertThat(replay.task.isDone()).isFalse();
      assertThat(groups()).contains("kvindex-named").doesNotContain("kvindex-replay-named");
      assertForgetRefused("named", "copy named is in use by 1 process");
      try (Replay second = new Replay(named)) {
        assertThat(second.exitCode()).isEqualTo(1);
        assertThat(second.command.err()).contains("in use by another kvindex");
      }
    }
    write();
    try (Replay replay = new Replay("--exit", "--copy", "named")) {
      assertThat(replay.exitCode()).isZero();
      assertThat(replay.command.out())
          .contains("it goes on from where it was")
          .contains("1 records with " + BLOCKS + " block operations");
    }
    CommandRun other = new CommandRun();
    assertThat(other.run(replay("5", "--copy", "named"))).isEqualTo(1);
    assertThat(other.err()).contains("was begun with --from beginning");
    assertThat(admin.listTopics().names().get()).noneMatch(name -> name.contains("named"));
  }

  @Test
  void shouldForgetACopy_whenItsDirectoryIsGone() throws Exception {
    try (Replay replay = new Replay("--copy", "lost")) {
      awaitAllBlocks(ready(replay));
    }
    assertThat(groups()).contains("kvindex-lost");
    Replacement.delete(directoryOf("lost"));
    try (Replay replay = new Replay("--exit", "--copy", "lost")) {
      assertThat(replay.exitCode()).isEqualTo(1);
      assertThat(replay.command.err()).contains("kvindex forget --copy lost");
    }
    CommandRun forget = new CommandRun();
    assertThat(forget.run(forget("lost"))).isZero();
    assertThat(groups()).doesNotContain("kvindex-lost");
    assertThat(forget.run(forget("lost"))).isZero();
    assertThat(forget.out()).contains("there is no group kvindex-lost");
    try (Replay replay = new Replay("--exit", "--copy", "lost")) {
      assertThat(replay.exitCode()).isZero();
    }
  }

  private void assertForgetRefused(String copy, String why) {
    CommandRun forget = new CommandRun();
    assertThat(forget.run(forget(copy))).isEqualTo(1);
    assertThat(forget.err()).contains(why);
  }

  private String[] forget(String copy) {
    return new String[] {"forget", "--copy", copy, "--kafka", broker.bootstrapServers()};
  }

  /** Waits until it says so. */
  private static Api ready(Replay replay) {
    CommandRun command = replay.command;
    await().atMost(Duration.ofSeconds(SECONDS)).until(() -> command.out().contains("ready at "));
    return new Api(URI.create(command.out().replaceAll("(?s).*ready at (\\S+).*", "$1")));
  }

  /** A partition that goes from one of its threads to the other can not be read for a moment. */
  private void awaitAllBlocks(Api api) {
    await().atMost(Duration.ofSeconds(SECONDS)).until(() -> blocks(api) == (long) BLOCKS * records);
  }

  /** Blocks of all owners. */
  private static long blocks(Api api) {
    long blocks = 0;
    for (JsonNode owner : api.get("/digests").findParents("blocks")) {
      blocks += owner.path("blocks").asLong();
    }
    return blocks;
  }

  @Test
  void shouldMakeNoTopics_whereThereIsNoSite(@TempDir Path directory) throws Exception {
    try (EmbeddedBroker wrong = EmbeddedBroker.start(directory);
        Admin ofWrong = Admin.create(Map.of("bootstrap.servers", wrong.bootstrapServers()))) {
      CommandRun command = new CommandRun();
      int code = command.run("replay", "--from", "beginning", "--kafka", wrong.bootstrapServers());
      assertThat(code).isNotZero();
      assertThat(command.err()).contains("there is no topic " + Topics.EVENTS);
      assertThat(ofWrong.listTopics().names().get(SECONDS, TimeUnit.SECONDS)).isEmpty();
    }
  }

  @Test
  void shouldTakeNoDirectoryForAName() throws Exception {
    for (String name : List.of("../mine", data.resolve("mine").toString(), "..", "")) {
      try (Replay replay = new Replay("--exit", "--copy", name)) {
        assertThat(replay.exitCode()).isEqualTo(1);
        assertThat(replay.command.err()).contains("a copy's name has");
      }
    }
  }
}
