// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.rewind.ReplayGroup;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.site.SiteCheck;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

  /** Of a rebuild that is not given another one. */
  private static final String DEFAULT_APPLICATION = "kvindex-replay-beginning";

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

  /** A rebuild from the beginning, in a thread of its own; an interrupt ends it as Ctrl-C does. */
  private final class Replay implements AutoCloseable {
    private final CommandRun command = new CommandRun();
    private final FutureTask<Integer> task;
    private final Thread thread;

    Replay(String... flags) {
      List<String> arguments = new ArrayList<>(List.of("replay", "--from", "beginning", "--kafka"));
      arguments.add(broker.bootstrapServers());
      arguments.addAll(List.of("--data-dir", data.toString()));
      arguments.addAll(List.of(flags));
      task = new FutureTask<>(() -> command.run(arguments.toArray(String[]::new)));
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

  private List<String> groups() throws Exception {
    return admin.listGroups().all().get().stream().map(GroupListing::groupId).toList();
  }

  private Path directoryOf(String application) {
    return data.resolve("replay").resolve(application);
  }

  private void assertNothingLeft(String application) throws Exception {
    assertThat(groups()).doesNotContain(application);
    assertThat(admin.listTopics().names().get()).noneMatch(name -> name.startsWith(application));
    assertThat(directoryOf(application)).doesNotExist();
  }

  @Test
  void shouldEndWhenAllIsRead_whenToldToExit() throws Exception {
    try (Replay replay = new Replay("--exit")) {
      assertThat(replay.exitCode()).isZero();
      assertThat(replay.command.out())
          .contains("application " + DEFAULT_APPLICATION + ", " + records + " records")
          .contains(records + " records with " + BLOCKS * records + " block operations")
          .contains("ready at http://127.0.0.1:");
    }
    assertNothingLeft(DEFAULT_APPLICATION);
  }

  @Test
  void shouldFollowTheLogUnderTheNameItIsGiven_untilItIsStopped() throws Exception {
    String named = "kvindex-replay-named";
    try (Replay replay = new Replay("--app", named)) {
      CommandRun command = replay.command;
      await().atMost(Duration.ofSeconds(SECONDS)).until(() -> command.out().contains("ready at "));
      assertThat(groups()).contains(named).doesNotContain(DEFAULT_APPLICATION);
      assertThat(directoryOf(named)).isDirectory();
      Api api = new Api(URI.create(command.out().replaceAll("(?s).*ready at (\\S+).*", "$1")));
      awaitAllBlocks(api);
      write();
      awaitAllBlocks(api);
      assertThat(replay.task.isDone()).isFalse();
    }
    assertNothingLeft(named);
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

  /** Its directory is deleted before and after. */
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
  void shouldTakeNoDirectoryForAnApplication() throws Exception {
    Path mine = Files.createDirectories(data.resolve("mine"));
    Files.createDirectories(data.resolve("replay"));
    for (String name : List.of("../mine", mine.toString(), "..", "")) {
      try (Replay replay = new Replay("--exit", "--app", name)) {
        assertThat(replay.exitCode()).isEqualTo(1);
        assertThat(replay.command.err()).contains("--app has to be");
      }
    }
    assertThat(mine).isDirectory();
  }

  @Test
  void shouldRefuseWhatAFormerRebuildHasLeft_unlessToldToBuildAnew() throws Exception {
    String left = "kvindex-replay-left";
    ReplayGroup former = new ReplayGroup(admin, left);
    former.startAt(new TreeMap<>(Map.of(0, 0L, 1, 0L)));

    try (Replay replay = new Replay("--exit", "--app", left)) {
      assertThat(replay.exitCode()).isEqualTo(1);
      assertThat(replay.command.err()).contains("application " + left + " exists", "--anew");
    }
    assertThat(groups()).as("nothing is deleted unasked").contains(left);

    try (Replay replay = new Replay("--exit", "--app", left, "--anew")) {
      assertThat(replay.exitCode()).isZero();
      assertThat(replay.command.out()).contains("application " + left + ", ", "ready at ");
    }
    assertNothingLeft(left);
  }
}
