// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.kvindex.model.event.Place;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RowStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that dies goes on from what it had committed. */
class SavedRowsTest {

  private static final TopicPartition CHANGELOG = new TopicPartition("changelog", 0);
  private static final Place GPU = Place.of("GPU", 0);
  private static final String ALL = "e1/0/GPU | e1/0/GPU | e1/0/GPU";
  private static final SavedRows.Policy EACH_COMMIT =
      new SavedRows.Policy(Duration.ZERO, Duration.ofMinutes(10));

  @TempDir Path dir;

  private final List<KeyValue<byte[], byte[]>> log = new ArrayList<>();
  private final StoreFaults faults = new StoreFaults(() -> {});
  private final Engine e1 = new Engine("e1");
  private final Prompt abc = new Prompt("abc");

  private RowStore open(Path site) {
    return new RowStore(site.resolve("0_0"), log, faults, EACH_COMMIT);
  }

  /** What is on the disk of a process that is killed amid a transaction. */
  private Path killed() throws IOException {
    return killed(index -> index.rows().commit(Map.of(CHANGELOG, (long) log.size())));
  }

  /**
   * The same.
   *
   * @param commit tells the store that what it has is committed
   */
  private Path killed(Consumer<RowStore> commit) throws IOException {
    Path live = dir.resolve("live");
    Path disk = dir.resolve("disk");
    try (RowStore index = open(live).activate(Limits.DEFAULT)) {
      index.take(e1.batch(abc.stored(GPU, 0, 2)), 1);
      commit.accept(index);
      index.take(e1.batch(abc.stored(GPU, 2, 3)), 1);
      copy(live, disk);
    }
    return disk;
  }

  /** What Kafka Streams does with rows that were not closed in order. */
  private void throwRowsAway(Path site) throws IOException {
    assertThatThrownBy(() -> open(site)).isInstanceOf(TaskCorruptedException.class);
    RowFiles.delete(site.resolve("0_0"));
  }

  @Test
  void shouldGoOnFromTheLastCommit() throws Exception {
    assertGoesOn(killed());
  }

  /** Kafka Streams does not tell the store: the thread does. */
  @Test
  void shouldGoOnFromTheLastCommit_whenItWasTheActiveTask() throws Exception {
    assertGoesOn(
        killed(
            index ->
                await().until(() -> index.own().rows().committed(CHANGELOG, (long) log.size()))));
  }

  /** Kafka Streams does so where rows turn out to be of no use while it runs. */
  @Test
  void shouldGoOnFromTheLastCommit_whenRowsWereThrownAway() throws Exception {
    Path site = killed();
    RowFiles.delete(site.resolve("0_0"));
    assertGoesOn(site);
  }

  private void assertGoesOn(Path site) throws Exception {
    try (RowStore again = open(site)) {
      long committed = again.rows().committedOffset(CHANGELOG);
      assertThat(committed).isPositive().isLessThan(log.size());
      assertThat(Answers.text(again.view(), "abc")).isEqualTo("e1/0/GPU | e1/0/GPU");
      again.restore(log, (int) committed, 2);
      assertThat(Answers.text(again.view(), "abc")).isEqualTo(ALL);
      again.rows().commit(Map.of(CHANGELOG, (long) log.size()));
    }
    try (RowStore next = open(site)) {
      assertThat(Answers.text(next.view(), "abc")).as("closed in order").isEqualTo(ALL);
    }
  }

  @Test
  void shouldBeUsedOnce() throws Exception {
    Path site = killed();
    Path twice = dir.resolve("twice");
    try (RowStore again = open(site)) {
      assertThat(again.view().appliedOffset()).isZero();
      copy(site, twice);
    }
    throwRowsAway(twice);
    assertEmpty(twice);
  }

  @Test
  void shouldNotBeUsed_whenDeletionsMayBeMissing() throws Exception {
    Path site = killed();
    Files.setLastModifiedTime(saved(site), FileTime.from(Instant.now().minusSeconds(601)));
    throwRowsAway(site);
    assertEmpty(site);
    assertThat(saved(site)).doesNotExist();
  }

  @Test
  void shouldNotBeUsed_whenWhatItWasTakenFromIsOutdated() throws Exception {
    Path site = killed();
    faults.outdated(0);
    throwRowsAway(site);
    assertEmpty(site);
  }

  /** The word that they are outdated goes with the process. */
  @Test
  void shouldNotBeMade_ofRowsThatAreOutdated() throws Exception {
    try (RowStore index = open(dir).activate(Limits.DEFAULT)) {
      index.take(e1.batch(abc.stored(GPU, 0, 2)), 1);
      index.rows().commit(Map.of(CHANGELOG, (long) log.size()));
      assertThat(saved(dir)).exists();
      faults.outdated(0);
      index.rows().commit(Map.of(CHANGELOG, (long) log.size()));
      assertThat(saved(dir)).doesNotExist();
    }
  }

  /** What was deleted before is read only later: the rows are as old as their beginning. */
  @Test
  void shouldBeAsOldAsWhatTheyWereReadFrom_whileTheChangelogIsRead() throws Exception {
    Path site = killed();
    Instant before = Instant.now().minusSeconds(400);
    Files.setLastModifiedTime(saved(site), FileTime.from(before));
    try (RowStore again = open(site)) {
      again.rows().commit(Map.of(CHANGELOG, again.rows().committedOffset(CHANGELOG)));
      assertThat(Files.getLastModifiedTime(saved(site)).toInstant()).isEqualTo(before);
      assertThat(Answers.text(again.view(), "abc")).as("now it is read").isNotEmpty();
      again.rows().commit(Map.of(CHANGELOG, again.rows().committedOffset(CHANGELOG)));
      assertThat(Files.getLastModifiedTime(saved(site)).toInstant()).isAfter(before);
    }
  }

  @Test
  void shouldNotBeUsed_whenWhatItWasTakenFromCouldNotBeRead() throws Exception {
    Path site = killed();
    RowFiles.delete(site.resolve("0_0"));
    faults.damaged(new TaskId(0, 0), new IOException("a block"));
    assertEmpty(site);
  }

  @Test
  void shouldNotBeUsed_whenAFileIsDamaged() throws Exception {
    Path site = killed();
    try (Stream<Path> files = Files.list(saved(site))) {
      Path rows = files.filter(file -> file.toString().endsWith(".sst")).findFirst().orElseThrow();
      byte[] bytes = Files.readAllBytes(rows);
      bytes[10] ^= 1;
      Files.write(rows, bytes, StandardOpenOption.TRUNCATE_EXISTING);
    }
    throwRowsAway(site);
    assertEmpty(site);
  }

  @Test
  void shouldBeDeleted_whenItIsOfNoUseAnyMore() throws Exception {
    Path site = killed();
    SavedRows.deleteOld(site, Instant.now().minusSeconds(600));
    assertThat(saved(site)).exists();
    SavedRows.deleteOld(site, Instant.now().plusSeconds(1));
    assertThat(saved(site)).doesNotExist();
    assertThat(site.resolve("0_0")).exists();
  }

  private void assertEmpty(Path site) {
    try (RowStore again = open(site)) {
      assertThat(again.rows().committedOffset(CHANGELOG)).isNull();
      assertThat(Answers.text(again.view(), "abc")).isEmpty();
    }
  }

  private static Path saved(Path site) {
    return SavedRows.of(site.resolve("0_0"));
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path one : all.toList()) {
        Path target = to.resolve(from.relativize(one).toString());
        if (Files.isDirectory(one)) {
          Files.createDirectories(target);
        } else {
          Files.copy(one, target);
        }
        Files.setLastModifiedTime(target, Files.getLastModifiedTime(one));
      }
    }
  }
}
