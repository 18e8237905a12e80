// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.store.RowFiles;
import io.kvindex.streams.store.SavedRows;
import io.kvindex.streams.topology.IndexTopology;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;

class LocalStateTest {

  private static final LocalIdentity OWN = LocalIdentity.of("cluster-1", "topic-1");

  @TempDir private Path dir;
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final Instant start = Instant.now();

  private LocalState state(String application) {
    return new LocalState(dir, application, new RebuiltRows(metrics));
  }

  /** A task directory whose database has not been made yet. */
  private Path rows(String application) throws IOException {
    return Files.createDirectories(dir.resolve(application).resolve("0_3"));
  }

  private double discarded(String reason) {
    return metrics.counter("kvindex.local.rows.discarded", "reason", reason).count();
  }

  @Test
  void shouldDiscardRowsThatMayLackDeletions_byHowLongNobodyFollowed() throws IOException {
    state("app").prepare(start, OWN);
    Path rows = rows("app");
    state("app").follows(start);
    state("app").prepare(start.plus(Duration.ofMinutes(9)), OWN);
    assertThat(rows).exists();
    state("app").follows(start.plus(Duration.ofMinutes(6)));
    state("app").prepare(start.plus(Duration.ofMinutes(15)), OWN);
    assertThat(rows).exists();
    state("app").prepare(start.plus(Duration.ofMinutes(17)), OWN);
    assertThat(rows).doesNotExist();
    assertThat(discarded("too_old")).isOne();
  }

  /** As those of another user are. */
  @Test
  void shouldMoveRowsAside_whenTheyCanNotBeDeleted() throws IOException {
    state("app").prepare(start, OWN);
    Path rows = rows("app");
    LocalState stubborn =
        new LocalState(
            dir,
            "app",
            new RebuiltRows(metrics),
            directory -> {
              throw new AccessDeniedException(directory.toString());
            });
    stubborn.prepare(start, LocalIdentity.of("cluster-2", "topic-1"));
    assertThat(rows).doesNotExist();
    assertThat(discarded("not_this_changelog")).isEqualTo(1);
    try (Stream<Path> left = Files.list(dir.resolve("app"))) {
      assertThat(left.map(Path::getFileName).map(Path::toString))
          .singleElement(STRING)
          .matches("0_3\\.unusable-.*");
    }
    stubborn.prepare(start, LocalIdentity.of("cluster-2", "topic-1"));
    assertThat(discarded("not_this_changelog")).as("it is nobody's rows any more").isEqualTo(1);
  }

  /** Kafka Streams throws them away as well, with stack traces for what is ordinary. */
  @Test
  void shouldDiscardRows_whenAKilledProcessLeftThemOpen() throws Exception {
    Path neverClosed = database("0_0", Map.of("status", 1L, "app-changelog-0", 7L));
    Path neverCommitted = database("0_1", Map.of());
    Path closed = database("0_2", Map.of("status", 0L, "app-changelog-2", 7L));
    Path saved = database("0_3", Map.of("status", 1L, "app-changelog-3", 7L));
    Files.createDirectories(dir.resolve("app").resolve("0_3.saved"));
    state("app").prepare(start, OWN);
    state("app").discardLeftOpen();
    assertThat(neverClosed).doesNotExist();
    assertThat(neverCommitted).doesNotExist();
    assertThat(dir.resolve("app")).isDirectoryNotContaining("glob:**0_[01]");
    assertThat(closed).exists();
    assertThat(saved).doesNotExist();
    assertThat(saved.getParent()).as("those saved are put in place there").exists();
    assertThat(discarded("left_open")).isEqualTo(2);
    assertThat(discarded("damaged")).isZero();

    state("app").discardLeftOpen();
    assertThat(discarded("left_open")).isEqualTo(2);
    assertThat(closed).exists();
  }

  /** As Kafka Streams 4.3 lays one out: rows, and beside them what it keeps of offsets. */
  private Path database(String task, Map<String, Long> offsets) throws Exception {
    Files.createDirectories(dir.resolve("app"));
    OWN.write(dir.resolve("app" + LocalState.IDENTITY));
    Path rows = dir.resolve("app").resolve(task).resolve("rocksdb").resolve(IndexTopology.STORE);
    Files.createDirectories(rows);
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (DBOptions options =
            new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true);
        RocksDB database =
            RocksDB.open(
                options,
                rows.toString(),
                List.of(
                    new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY),
                    new ColumnFamilyDescriptor("offsets".getBytes(StandardCharsets.UTF_8))),
                handles)) {
      database.put("row".getBytes(StandardCharsets.UTF_8), new byte[] {1});
      for (Map.Entry<String, Long> entry : offsets.entrySet()) {
        database.put(
            handles.get(1),
            entry.getKey().getBytes(StandardCharsets.UTF_8),
            ByteBuffer.allocate(Long.BYTES).putLong(entry.getValue()).array());
      }
      handles.forEach(ColumnFamilyHandle::close);
    }
    return rows;
  }

  /** As a backup that is put back: its files are new, what is in them is not. */
  @Test
  void shouldDiscardOldRows_whenTheirFilesAreNew() throws IOException {
    state("app").prepare(start, OWN);
    state("app").follows(start.minus(Duration.ofHours(1)));
    Path rows = rows("app");
    Files.setLastModifiedTime(dir.resolve("app.followed"), FileTime.from(start));
    state("app").prepare(start, OWN);
    assertThat(rows).doesNotExist();
    assertThat(discarded("too_old")).isEqualTo(1);
  }

  @Test
  void shouldDiscardRows_whenTheyAreOfAnHourToCome() throws IOException {
    state("app").prepare(start, OWN);
    state("app").follows(start.plus(Duration.ofHours(1)));
    Path rows = rows("app");
    state("app").prepare(start, OWN);
    assertThat(rows).as("one of the two clocks is wrong").doesNotExist();
  }

  @Test
  void shouldGoByTheTimeOfAFileThatIsEmpty() throws IOException {
    state("app").prepare(start, OWN);
    Path file = Files.createFile(dir.resolve("app.followed"));
    Files.setLastModifiedTime(file, FileTime.from(start));
    Path rows = rows("app");
    state("app").prepare(start, OWN);
    assertThat(rows).exists();
    Files.setLastModifiedTime(file, FileTime.from(start.minus(Duration.ofHours(1))));
    state("app").prepare(start, OWN);
    assertThat(rows).doesNotExist();
  }

  @Test
  void shouldKeepRowsOfItsOwn_whenKafkaDoesNotSayWhoItIs() throws IOException {
    state("app").prepare(start, OWN);
    Path rows = rows("app");
    state("app").prepare(start, null);
    assertThat(rows).exists();
    state("app").prepare(start, OWN);
    assertThat(rows).exists();
  }

  @Test
  void shouldRefuseToStart_whenThereIsNothingAndKafkaDoesNotSayWhy() {
    assertThatThrownBy(() -> state("app").prepare(start, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("start again");
  }

  @Test
  void shouldDiscardRowsOfOthers_andOnlyOfItsApplication() throws IOException {
    assertDiscarded(LocalIdentity.of("cluster-2", "topic-1"));
    assertDiscarded(LocalIdentity.of("cluster-1", "topic-2"));
    assertDiscarded(new LocalIdentity("cluster-1", "topic-1", RowKind.LAYOUT_VERSION + 1));
    assertDiscarded(new LocalIdentity("cluster-1", "topic-1", RowKind.LAYOUT_VERSION - 1));
    assertThat(discarded("not_this_changelog")).isEqualTo(4);
  }

  /** Also where the first start was before there was one: nothing says what these rows are of. */
  @Test
  void shouldDiscardRows_whenTheChangelogIsGone() throws IOException {
    state("app").prepare(start, OWN);
    LocalIdentity gone = LocalIdentity.of("cluster-1", "");
    for (int times = 0; times < 2; times++) {
      Path rows = rows("app");
      state("app").prepare(start, gone);
      assertThat(rows).doesNotExist();
    }
    assertThat(discarded("not_this_changelog")).isEqualTo(2);
  }

  private void assertDiscarded(LocalIdentity now) throws IOException {
    state("app").prepare(start, OWN);
    Path other = rows("other");
    Path rows = rows("app");
    state("app").prepare(start, now);
    assertThat(rows).as("%s", now).doesNotExist();
    assertThat(other).exists();
    Path again = rows("app");
    state("app").prepare(start, now);
    assertThat(again).as("the same a second time").exists();
    RowFiles.delete(again);
  }

  @Test
  void shouldTakeTheChangelogForItsOwn_whenThereWasNoneAtTheFirstStart() throws IOException {
    LocalState first = state("app");
    first.prepare(start, LocalIdentity.of("cluster-1", ""));
    Path rows = rows("app");
    assertThat(first.objection(OWN)).isNull();
    first.writeOwner(OWN);
    state("app").prepare(start, OWN);
    assertThat(rows).exists();
  }

  /** It may have been deleted and created again since. */
  @Test
  void shouldDiscardRows_whenTheFirstStartNeverSawItsChangelog() throws IOException {
    state("app").prepare(start, LocalIdentity.of("cluster-1", ""));
    Path rows = rows("app");
    LocalState silent = state("app");
    silent.prepare(start, null);
    assertThat(silent.objection(OWN)).contains("which changelog");
    state("app").prepare(start, OWN);
    assertThat(rows).doesNotExist();
    assertThat(discarded("not_this_changelog")).isOne();
  }

  @Test
  void shouldDiscardRows_whenNothingSaysWhoseTheyAre() throws IOException {
    assertDiscardedWith(null);
    assertDiscardedWith("");
    assertDiscardedWith("cluster.id=cluster-1\nrow.layout=many");
    assertDiscardedWith("\\u12");
  }

  private void assertDiscardedWith(@Nullable String text) throws IOException {
    Path file = dir.resolve("app.identity");
    Files.deleteIfExists(file);
    if (text != null) {
      Files.writeString(file, text);
    }
    Path rows = rows("app");
    state("app").prepare(start, OWN);
    assertThat(rows).doesNotExist();
  }

  @Test
  void shouldDiscardOnlyTheDamagedPartition() throws IOException {
    state("app").prepare(start, OWN);
    Path sound = rows("app");
    Path damaged = Files.createDirectories(dir.resolve("app").resolve("0_11").resolve("rocksdb"));
    Files.writeString(damaged.resolve("prefix-table"), "a file where a directory has to be");
    state("app").prepare(start, OWN);
    assertThat(sound).exists();
    assertThat(damaged).doesNotExist();
    assertThat(discarded("damaged")).isOne();
  }

  /** A process that is killed while RocksDB writes a file leaves one its manifest does not know. */
  @Test
  void shouldLeaveWhatWasSaved_whenRowsAreDamaged() throws IOException {
    state("app").prepare(start, OWN);
    Path task = rows("app");
    Path files = Files.createDirectories(task.resolve("rocksdb"));
    Path damaged = Files.writeString(files.resolve("prefix-table"), "no rows");
    Path saved = Files.createDirectories(SavedRows.of(task));
    state("app").prepare(start, OWN);
    assertThat(damaged).doesNotExist();
    assertThat(saved).exists();
    assertThat(files).as("seen by Kafka Streams when it starts").exists();
    assertThat(discarded("damaged")).isOne();
  }

  @Test
  void shouldObjectToRowsOfOthers_whenKafkaWasSilentAtTheStart() throws IOException {
    state("app").prepare(start, OWN);
    rows("app");
    LocalState silent = state("app");
    silent.prepare(start, null);
    assertThat(silent.objection(OWN)).isNull();
    LocalIdentity other = LocalIdentity.of("cluster-2", "topic-1");
    assertThat(silent.objection(other)).contains("cluster-1").contains("cluster-2");
    new RebuiltRows(metrics).strangersWhileRunning("they are of others", 3);
    assertThat(discarded("not_this_changelog")).isEqualTo(3);
    Path rows = rows("app");
    state("app").prepare(start, other);
    assertThat(rows).as("built anew again, as nobody knows how far it came").doesNotExist();
  }
}
