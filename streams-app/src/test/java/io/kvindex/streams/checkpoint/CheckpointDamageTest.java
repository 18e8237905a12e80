// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.index.NameRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Bytes;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Checkpoints that are not what they should be are refused, and it is said why. */
class CheckpointDamageTest {

  private static final Uuid TOPIC = RandomTable.TOPIC;
  private static final long SEED = TestSeed.of(CheckpointDamageTest.class);
  private static final int DAMAGES = Integer.getInteger("kvindex.test.damages", 30);

  /** Of a key and a value: more than what is written at a time. */
  private static final int LARGE = 2 << 20;

  @TempDir Path directory;
  private Path own;
  private RandomTable table;

  @BeforeEach
  void writeOne() throws Exception {
    own = directory.resolve("own");
    table = new RandomTable(SEED, RandomTable.HASHES, RandomTable.newBlocks());
    Journals journals = new Journals(table);
    try (Checkpoint checkpoint = Checkpoint.open(own, TOPIC, 0)) {
      for (int i = 0; i < 3; i++) {
        table.foldTo(table.offset() + 700, t -> {});
        journals.write(checkpoint);
      }
    }
  }

  @Test
  void shouldRefuse_whenItIsOfAnotherLogOrLayout() throws Exception {
    Uuid other = new Uuid(7, 9);
    assertRefused(Reason.FOREIGN_TOPIC, () -> Checkpoint.open(own, other, 0));
    assertRefused(Reason.FOREIGN_TOPIC, () -> Verification.of(own, other, 0));
    assertRefused(Reason.FOREIGN_PARTITION, () -> Checkpoint.open(own, TOPIC, 1));
    assertRefused(Reason.FOREIGN_PARTITION, () -> Verification.of(own, TOPIC, 1));
    byte[] header = edit(db -> db.get(Checkpoint.HEADER));
    header[0] = Header.LAYOUT + 1;
    edit(db -> put(db, Checkpoint.HEADER, header));
    assertRefused(Reason.UNKNOWN_LAYOUT, () -> Checkpoint.open(own, TOPIC, 0));
    assertRefused(Reason.UNKNOWN_LAYOUT, () -> Verification.of(own, TOPIC, 0));
    edit(db -> put(db, Checkpoint.HEADER, Arrays.copyOf(header, 0)));
    assertRefused(Reason.MALFORMED_ROW, () -> Checkpoint.open(own, TOPIC, 0));
  }

  @Test
  void shouldRefuse_whenRowsAreMissingOrTooMany() throws Exception {
    byte[] name = edit(db -> first(db, NameRow.KIND));
    byte[] value = edit(db -> db.get(name));
    edit(
        db -> {
          db.delete(name);
          return null;
        });
    assertRefused(Reason.INCOMPLETE, this::load);
    byte[] another = name.clone();
    another[another.length - 1] ^= 1;
    edit(db -> put(db, name, value));
    load();
    edit(db -> put(db, another, value));
    // One that nobody holds would have another one's place.
    assertThatThrownBy(this::load)
        .isInstanceOfSatisfying(
            CheckpointRefusedException.class,
            e -> assertThat(e.reason()).isIn(Reason.INCOMPLETE, Reason.MALFORMED_ROW));
  }

  @Test
  void shouldRefuse_whenTheFileThatNamesTheOthersIsGone() throws Exception {
    Files.delete(own.resolve("CURRENT"));
    assertRefused(Reason.DAMAGED, () -> Checkpoint.open(own, TOPIC, 0));
    assertRefused(Reason.DAMAGED, () -> Verification.of(own, TOPIC, 0));
  }

  /** Of any name's row: what it says instead is refused, or another name. */
  @Test
  void shouldRefuseOrReadAnotherName_whenARowIsChanged() throws Exception {
    SplittableRandom random = new SplittableRandom(SEED);
    byte[] name = edit(db -> first(db, NameRow.KIND));
    byte[] value = edit(db -> db.get(name));
    int refused = 0;
    for (int i = 0; i < DAMAGES; i++) {
      byte[] bad = Arrays.copyOf(value, random.nextInt(2) == 0 ? value.length : random.nextInt(40));
      for (int n = 0; bad.length > 0 && n < 2; n++) {
        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      }
      edit(db -> put(db, name, bad));
      try {
        load();
      } catch (CheckpointRefusedException e) {
        assertThat(e.reason()).isEqualTo(Reason.MALFORMED_ROW);
        refused++;
      }
    }
    assertThat(refused).isPositive();
    edit(db -> put(db, new byte[] {NameRow.KIND, 1}, value));
    assertRefused(Reason.MALFORMED_ROW, this::load);
  }

  @Test
  void shouldRefuse_whenTheDictionaryIsNotTheNamesOwn() throws Exception {
    byte[] first = {Checkpoint.DICTIONARY, 'B', 0, 0, 0, 1};
    byte[] value = edit(db -> db.get(first));
    assertThat(value).isNotNull();
    edit(
        db -> { // all spaces, as no name may be in the first one
          db.deleteRange(
              new byte[] {Checkpoint.DICTIONARY, 'B'}, new byte[] {Checkpoint.DICTIONARY, 'C'});
          return null;
        });
    assertRefused(Reason.MALFORMED_ROW, this::load);
  }

  /**
   * A file deleted, cut short, lengthened or changed: refused, or none of what is read is of it.
   */
  @Test
  void shouldRefuseOrLoadAWholeTable_whenFilesAreDamaged() throws Exception {
    SplittableRandom random = new SplittableRandom(SEED);
    TreeMap<String, Integer> what = new TreeMap<>();
    for (int i = 0; i < DAMAGES; i++) {
      Path copy = directory.resolve("copy" + i);
      copy(own, copy);
      List<Path> files = files(copy);
      Path file = files.get(random.nextInt(files.size()));
      String kind = file.getFileName().toString().replaceAll("[0-9-]", "");
      String damage = damage(file, random);
      String verified = outcome(() -> Verification.of(copy, TOPIC, 0));
      String loaded =
          outcome(
              () -> {
                try (Checkpoint checkpoint = Checkpoint.open(copy, TOPIC, 0)) {
                  RandomTable one = RandomTable.load(checkpoint, SEED);
                  assertThat(one.differences(at(one.offset()))).as("%d %s", SEED, file).isEmpty();
                }
              });
      what.merge(kind + " " + damage + ": " + verified + ", " + loaded, 1, Integer::sum);
      if (kind.equals(".sst")) {
        assertThat(verified).as("%s %s", file, damage).isEqualTo("damaged");
      }
    }
    what.forEach((how, times) -> System.out.println(how + " x " + times));
  }

  /** A table that never stopped. */
  private RandomTable at(long offset) {
    if (offset == table.offset()) {
      return table;
    }
    RandomTable other = new RandomTable(SEED, RandomTable.HASHES, RandomTable.newBlocks());
    other.foldTo(offset, t -> {});
    return other;
  }

  private static String outcome(ThrowingCallable action) throws Exception {
    try {
      action.call();
      return "used";
    } catch (CheckpointRefusedException e) {
      return e.reason().label();
    } catch (Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("neither used nor refused", e);
    }
  }

  private static String damage(Path file, SplittableRandom random) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    switch (random.nextInt(4)) {
      case 0 -> {
        Files.delete(file);
        return "deleted";
      }
      case 1 -> {
        Files.write(
            file, Arrays.copyOf(bytes, bytes.length == 0 ? 0 : random.nextInt(bytes.length)));
        return "cut";
      }
      case 2 -> {
        Files.write(file, Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(100)));
        return "lengthened";
      }
      default -> {
        for (int i = 0; i < 3 && bytes.length > 0; i++) {
          bytes[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(255));
        }
        Files.write(file, bytes);
        return "changed";
      }
    }
  }

  @Test
  void shouldLendWhatWasWritten_whenWritingGoesOn() throws Exception {
    Path lent = directory.resolve("lent");
    Journals journals = new Journals(table);
    long offset = table.offset();
    try (Checkpoint checkpoint = Checkpoint.open(own, TOPIC, 0)) {
      Header header = checkpoint.lend(lent);
      assertThat(header).isNotNull();
      for (int i = 0; i < 5; i++) {
        table.foldTo(table.offset() + 300, t -> {});
        journals.write(checkpoint);
      }
      assertThat(Verification.of(lent, TOPIC, 0).folded().offset()).isEqualTo(offset);
    }
    try (Checkpoint checkpoint = Checkpoint.open(lent, TOPIC, 0)) {
      RandomTable loaded = RandomTable.load(checkpoint, SEED);
      assertThat(loaded.offset()).isEqualTo(offset);
      assertThat(loaded.differences(at(offset))).isEmpty();
    }
    RandomTable latest = load();
    assertThat(latest.differences(table)).isEmpty();
  }

  @Test
  void shouldLendNothing_whenNothingWasWritten() throws Exception {
    Path empty = directory.resolve("empty");
    try (Checkpoint checkpoint = Checkpoint.open(empty, TOPIC, 0)) {
      assertThat(checkpoint.lend(directory.resolve("none"))).isNull();
      assertThat(directory.resolve("none")).doesNotExist();
    }
    assertRefused(Reason.INCOMPLETE, () -> Verification.of(empty, TOPIC, 0));
    assertRefused(Reason.DAMAGED, () -> Verification.of(directory.resolve("no"), TOPIC, 0));
  }

  @Test
  void shouldSayThatItIsInUse_whenAnotherHasItOpen() throws Exception {
    try (Checkpoint checkpoint = Checkpoint.open(own, TOPIC, 0)) {
      assertThatThrownBy(() -> Checkpoint.open(own, TOPIC, 0)).isInstanceOf(IOException.class);
      assertThat(checkpoint.header()).isNotNull();
    }
    load();
  }

  /** It is the disk's fault, which may be well again, and no reason to throw rows away. */
  @Test
  void shouldNotCallItDamaged_whenTheDiskDoesNotReadWhatItHas() throws Exception {
    try (Options lazy = new Options().setMaxOpenFiles(10);
        RocksDB db = RocksDB.open(lazy, own.toString());
        ReadOptions all = new ReadOptions()) {
      Header header = Objects.requireNonNull(Checkpoint.header(db, TOPIC, 0));
      for (Path file : files(own)) {
        if (file.toString().endsWith(".sst")) {
          Files.delete(file);
          Files.createSymbolicLink(file, file); // is there, and can not be read
        }
      }
      RandomTable into = new RandomTable(SEED, RandomTable.HASHES, RandomTable.newBlocks());
      assertThatThrownBy(
              () ->
                  new Loading(new StoredRows(db, all, header), "rows")
                      .load(into.blocks(), into::load, Progress.NONE))
          .isInstanceOf(IOException.class);
    }
    assertThatThrownBy(() -> Verification.of(own, TOPIC, 0)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> Checkpoint.open(own, TOPIC, 0)).isInstanceOf(IOException.class);
  }

  /** All of a checkpoint or nothing of it, also where it was written in several batches. */
  @Test
  void shouldHaveNothingOfAJournal_whenWritingItFailed() throws Exception {
    try (Checkpoint checkpoint = Checkpoint.open(own, TOPIC, 0)) {
      long offset = table.offset();
      RandomTable before = RandomTable.load(checkpoint, SEED);
      Journals journals = new Journals(before);
      before.foldTo(offset + 400, t -> {});
      Journal full = journals.next();
      full.put(Bytes.wrap(new byte[LARGE]), new byte[LARGE]);
      full.put(nothing(), new byte[0]);
      assertThatThrownBy(() -> checkpoint.write(full, before.folded()))
          .isInstanceOf(NullPointerException.class);
      Path lent = directory.resolve("lent");
      Header header = checkpoint.lend(lent);
      assertThat(header).isNotNull();
      assertThat(Verification.of(lent, TOPIC, 0).folded().offset()).isEqualTo(offset);
      byte[] tooLarge = new byte[LARGE + 1];
      tooLarge[0] = Checkpoint.DICTIONARY;
      assertThat(edit(lent, db -> db.get(tooLarge))).isEmpty();
    }
    assertThat(load().differences(table)).isEmpty();
  }

  @SuppressWarnings("NullAway")
  private static Bytes nothing() {
    return null;
  }

  private RandomTable load() throws Exception {
    try (Checkpoint checkpoint = Checkpoint.open(own, TOPIC, 0)) {
      return RandomTable.load(checkpoint, SEED);
    }
  }

  private static void assertRefused(Reason reason, ThrowingCallable action) {
    assertThatThrownBy(action)
        .isInstanceOfSatisfying(
            CheckpointRefusedException.class,
            e -> assertThat(e.reason()).as(e.getMessage()).isEqualTo(reason));
  }

  /** Something done to the rows behind the checkpoint's back. */
  @FunctionalInterface
  private interface Edit {
    byte @Nullable [] edit(RocksDB db) throws RocksDBException;
  }

  private byte[] edit(Edit edit) throws RocksDBException {
    return edit(own, edit);
  }

  private static byte[] edit(Path where, Edit edit) throws RocksDBException {
    try (Options options = new Options();
        RocksDB db = RocksDB.open(options, where.toString())) {
      byte[] result = edit.edit(db);
      return result == null ? new byte[0] : result;
    }
  }

  private static byte @Nullable [] put(RocksDB db, byte[] key, byte[] value)
      throws RocksDBException {
    db.put(key, value);
    return null;
  }

  private static byte[] first(RocksDB db, byte kind) {
    try (RocksIterator rows = db.newIterator()) {
      rows.seek(new byte[] {kind});
      return rows.key();
    }
  }

  private static List<Path> files(Path of) throws IOException {
    try (Stream<Path> files = Files.list(of)) {
      return files.sorted().toList();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    for (Path file : files(from)) {
      Files.copy(file, to.resolve(file.getFileName()));
    }
  }
}
