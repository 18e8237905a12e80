// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.store.RowFiles;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Whatever a replica finds on its disk, it answers as before. */
@Tag("broker")
@Timeout(180)
class DamagedStateIT {

  private static final String DAMAGED = "damaged";
  private static final String STRANGER = "not_this_changelog";

  @TempDir private Path dir;
  private final String application = SharedBroker.unique("damaged");
  private LogFeed feed;
  private List<String> answers = List.of();

  /** Expected ones: who folds the rows is a stream thread, and it ends by what it finds. */
  private int streamFailures;

  @BeforeEach
  void feed() throws Exception {
    feed = new LogFeed(SharedBroker.bootstrapServers(), 11);
  }

  /** Does something to the rows of a stopped replica. */
  private interface Damage {
    void to(Path database) throws IOException;
  }

  @Test
  void shouldAnswerTheSame_whateverBecameOfItsRows() throws IOException {
    try (IndexerApp app = start(new SimpleMeterRegistry())) {
      feed.send(400);
      until(() -> feed.isSeenBy(app), "all records");
      answers = feed.answers(app);
    }
    assertAnswersTheSame("nothing was done", database -> {}, DAMAGED, 0);
    assertAnswersTheSame("a table was cut off", DamagedStateIT::cutTable, DAMAGED, 1);
    assertAnswersTheSame("a bit of a table was turned", DamagedStateIT::turnBit, DAMAGED, 1);
    assertAnswersTheSame(
        "a table is gone", database -> Files.delete(file(database, ".sst")), DAMAGED, 1);
    assertAnswersTheSame("the manifest was cut off", DamagedStateIT::cutManifest, DAMAGED, 1);
    assertAnswersTheSame(
        "no manifest is named", database -> Files.delete(database.resolve("CURRENT")), DAMAGED, 1);
    streamFailures = 1;
    assertAnswersTheSame("a row is of another version", DamagedStateIT::spoilRow, DAMAGED, 1);
    streamFailures = 0;
    assertAnswersTheSame("the database is gone", RowFiles::delete, DAMAGED, 0);
    assertAnswersTheSame("a file is in its place", DamagedStateIT::replaceByFile, DAMAGED, 1);
    assertAnswersTheSame("it was another cluster's", d -> rewrite("cluster.id"), STRANGER, 1);
    assertAnswersTheSame(
        "its changelog was another one", d -> rewrite("changelog.topic.id"), STRANGER, 1);
    assertAnswersTheSame("its layout was newer", d -> rewrite("row.layout"), STRANGER, 1);
    assertAnswersTheSame("nothing was done", database -> {}, DAMAGED, 0);
  }

  private IndexerApp start(SimpleMeterRegistry metrics) {
    return IndexerApp.start(
        IndexerConfig.at(SharedBroker.bootstrapServers(), dir).as(application).alone("one"),
        1,
        metrics);
  }

  private void assertAnswersTheSame(String what, Damage damage, String reason, int discarded)
      throws IOException {
    damage.to(dir.resolve(application).resolve("0_0").resolve("rocksdb").resolve("prefix-table"));
    SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    long startedNs = System.nanoTime();
    try (IndexerApp app = start(metrics)) {
      until(() -> app.notReadyReason() == null, "ready although " + what);
      System.out.printf(
          "%s: ready after %d ms%n", what, (System.nanoTime() - startedNs) / 1_000_000);
      assertThat(feed.answers(app)).as(what).isEqualTo(answers);
      assertThat(metrics.counter("kvindex.local.rows.discarded", "reason", reason).count())
          .as(what)
          .isEqualTo(discarded);
      assertThat(metrics.counter("kvindex.stream.failures").count())
          .as(what)
          .isEqualTo(streamFailures);
      feed.send(20);
      until(() -> feed.isSeenBy(app), "new records although " + what);
      answers = feed.answers(app);
    }
  }

  private static Path file(Path database, String part) throws IOException {
    try (Stream<Path> files = Files.list(database)) {
      return files
          .filter(file -> file.getFileName().toString().contains(part))
          .min(Path::compareTo)
          .orElseThrow();
    }
  }

  private static void cutTable(Path database) throws IOException {
    cut(file(database, ".sst"));
  }

  private static void cutManifest(Path database) throws IOException {
    cut(file(database, "MANIFEST"));
  }

  private static void cut(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(channel.size() / 2);
    }
  }

  /** In its first block, whose checksum nobody looks at before it is read. */
  private static void turnBit(Path database) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file(database, ".sst"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, 20);
      one.put(0, (byte) (one.get(0) ^ 4)).rewind();
      channel.write(one, 20);
    }
  }

  /** Nothing is wrong with the files: only who folds the rows can notice. */
  private static void spoilRow(Path database) {
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (Options options = new Options();
        DBOptions open = new DBOptions()) {
      List<ColumnFamilyDescriptor> families = new ArrayList<>();
      for (byte[] name : RocksDB.listColumnFamilies(options, database.toString())) {
        families.add(new ColumnFamilyDescriptor(name));
      }
      try (RocksDB rows = RocksDB.open(open, database.toString(), families, handles)) {
        rows.put(new byte[] {RowKind.TABLE, 9, 9, 9, 9}, new byte[] {99, 1, 2});
        handles.forEach(ColumnFamilyHandle::close);
      }
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void replaceByFile(Path database) throws IOException {
    RowFiles.delete(database);
    Files.writeString(database, "not a directory");
  }

  private void rewrite(String member) throws IOException {
    Path identity = dir.resolve(application + ".identity");
    Files.writeString(
        identity,
        Files.readString(identity)
            .replaceAll("(?m)^" + member.replace(".", "\\.") + "=.*$", member + "=7"));
  }
}
