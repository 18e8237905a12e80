// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Journal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** What is damaged, torn, foreign or unknown is refused, or it is a whole checkpoint of before. */
class RefusedCheckpointTest {

  private static final Uuid TOPIC = new Uuid(1, 2);
  private static final int HASHES = 2_000;
  private static final int RECORDS = 600;
  private static final int CHECKPOINTS = 4;

  /** Damaged copies a test makes. */
  private static final int TRIES = Integer.getInteger("kvindex.test.tries", 20);

  @TempDir private Path scratch;
  private final long seed = Long.getLong("kvindex.test.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final Map<Long, RandomTable> references = new HashMap<>();
  private int copies;

  /** Changes a raw row. */
  private interface Change {
    void of(RocksDB db) throws RocksDBException;
  }

  @Test
  void shouldSayWhy_whenItIsForeign() throws Exception {
    Path directory = written();
    assertThat(verify(directory)).isNull();
    assertThat(refused(directory, new Uuid(1, 3), 0)).isEqualTo(Reason.FOREIGN_TOPIC);
    assertThat(refused(directory, TOPIC, 1)).isEqualTo(Reason.FOREIGN_PARTITION);
    assertThat(reason(() -> Checkpoint.verify(directory, new Uuid(1, 3), 0)))
        .isEqualTo(Reason.FOREIGN_TOPIC);
  }

  @Test
  void shouldSayWhy_whenRowsAreNotWhatTheyShouldBe() throws Exception {
    Path directory = written();
    byte[] header = Checkpoint.HEADER;
    byte[] name = ByteBuffer.allocate(13).put((byte) 'N').putInt(0).putLong(77).array();
    byte[] noSpace = ByteBuffer.allocate(13).put((byte) 'N').putInt(99).putLong(77).array();
    byte[] shortName = {'N', 0, 0};
    byte[] whole = {(byte) 0x80 | 1, 0, 0};
    assertThat(changed(directory, db -> db.put(header, new byte[] {3}), "layout 3"))
        .isEqualTo(Reason.UNKNOWN_LAYOUT);
    assertThat(changed(directory, db -> db.put(header, new byte[] {2, 1}), "cut header"))
        .isEqualTo(Reason.MALFORMED_ROW);
    assertThat(changed(directory, db -> db.put(name, whole), "one name more"))
        .isIn(Reason.INCOMPLETE, Reason.MALFORMED_ROW); // who has it may be there or not
    assertThat(changed(directory, db -> db.put(noSpace, whole), "no such space"))
        .isEqualTo(Reason.MALFORMED_ROW);
    assertThat(changed(directory, db -> db.put(shortName, whole), "short key"))
        .isEqualTo(Reason.MALFORMED_ROW);
    assertThat(changed(directory, db -> db.put(name, new byte[] {7}), "short value"))
        .isEqualTo(Reason.MALFORMED_ROW);
    assertThat(changed(directory, db -> db.put(name, new byte[0]), "no value"))
        .isEqualTo(Reason.MALFORMED_ROW);
    assertThat(changed(directory, db -> db.put(new byte[] {'D', 'C'}, whole), "dictionary"))
        .isEqualTo(Reason.MALFORMED_ROW);
    assertThat(changed(directory, RefusedCheckpointTest::deleteAName, "one name less"))
        .isEqualTo(Reason.INCOMPLETE);
    Change noHeader = db -> db.delete(header);
    assertThat(reason(() -> Checkpoint.verify(change(directory, noHeader), TOPIC, 0)))
        .isEqualTo(Reason.INCOMPLETE);
  }

  /**
   * Values that are not even nearly right: whatever happens, it is no exception of another kind.
   */
  @Test
  void shouldRefuseOrTakeAsAWhole_whenValuesAreRandom() throws Exception {
    System.out.println("seed " + seed);
    Path directory = written();
    for (int i = 0; i < TRIES; i++) {
      byte[] value = new byte[random.nextInt(60)];
      random.nextBytes(value);
      byte kind = "NDH".getBytes(StandardCharsets.US_ASCII)[random.nextInt(3)];
      Path changed = change(directory, db -> db.put(aKey(db, kind), value));
      loadOrRefuse(changed, "value " + i, false);
    }
  }

  @Test
  void shouldRefuseOrFindWhatWasBefore_whenFilesAreDamaged() throws Exception {
    System.out.println("seed " + seed);
    Path directory = written();
    int refused = 0;
    int verified = 0;
    for (int i = 0; i < TRIES; i++) {
      Path copy = copy(directory);
      List<Path> files = list(copy);
      Path file = files.get(random.nextInt(files.size()));
      String what = damage(file);
      verified += verify(copy) == null ? 1 : 0;
      refused += loadOrRefuse(copy, what + " " + file.getFileName(), true) ? 0 : 1;
    }
    System.out.println(refused + " of " + TRIES + " refused, " + verified + " verified");
    assertThat(refused).isPositive();
  }

  /** What a power failure leaves of a manifest: it ends at any byte, its newest files are torn. */
  @Test
  void shouldFindOneOfTheCheckpoints_whenTheManifestIsCutAnywhere() throws Exception {
    System.out.println("seed " + seed);
    Path directory = written();
    Path manifest = manifest(list(directory));
    long length = Files.size(manifest);
    int older = 0;
    for (int i = 0; i < TRIES; i++) {
      Path copy = copy(directory);
      long to = random.nextLong(length);
      cut(copy.resolve(manifest.getFileName()), to);
      older += loadOrRefuse(copy, "manifest cut to " + to + " of " + length, true) ? 1 : 0;
    }
    System.out.println(older + " of " + TRIES + " led to a whole checkpoint of before");
  }

  // ------------------------------------------------------------------- damage

  private String damage(Path file) throws IOException {
    long length = Files.size(file);
    int how = random.nextInt(3);
    if (how == 0) {
      Files.delete(file);
      return "deleted";
    } else if (how == 1 || length == 0) {
      cut(file, length == 0 ? 0 : random.nextLong(length));
      return "cut";
    }
    byte[] bytes = Files.readAllBytes(file);
    bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
    Files.write(file, bytes);
    return "flipped";
  }

  private static void cut(Path file, long to) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, (int) to));
  }

  private static Path manifest(List<Path> files) {
    return files.stream()
        .filter(file -> file.getFileName().toString().startsWith("MANIFEST"))
        .findAny()
        .orElseThrow();
  }

  private static void deleteAName(RocksDB db) throws RocksDBException {
    db.delete(aKey(db, (byte) 'N'));
  }

  private static byte[] aKey(RocksDB db, byte kind) {
    try (var rows = db.newIterator()) {
      rows.seek(new byte[] {kind});
      return rows.key();
    }
  }

  private @Nullable Reason changed(Path directory, Change change, String what) throws Exception {
    Path changed = change(directory, change);
    System.out.print(what + ": ");
    return reason(
        () -> {
          try (Checkpoint checkpoint = Checkpoint.open(changed, TOPIC, 0)) {
            load(checkpoint);
          }
        });
  }

  private Path change(Path directory, Change change) throws IOException, RocksDBException {
    Path copy = copy(directory);
    try (Options options = RocksSettings.options().setAvoidFlushDuringShutdown(false);
        RocksDB db = RocksDB.open(options, copy.toString())) {
      change.of(db);
    }
    return copy;
  }

  // ------------------------------------------------------------------- checkpoints

  private Path written() throws Exception {
    Path directory = scratch.resolve("written");
    try (Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 0)) {
      RandomTable table = new RandomTable(seed, HASHES, RandomTable.newBlocks());
      Journal.Pieces pieces = new Journal.Pieces();
      table.blocks().swap(new Journal(pieces));
      for (int i = 1; i <= CHECKPOINTS - 1; i++) {
        table.foldTo(i * RECORDS, t -> {});
        checkpoint.write(table.blocks().swap(new Journal(pieces)), table.folded());
      }
      table.foldTo(CHECKPOINTS * RECORDS, t -> {});
      checkpoint.write(table.blocks().swap(new Journal(pieces)), table.folded());
    }
    return directory;
  }

  private RandomTable load(Checkpoint checkpoint)
      throws CheckpointRefusedException, InterruptedException {
    Blocks blocks = RandomTable.newBlocks();
    RandomTable table = new RandomTable(seed, HASHES, blocks);
    checkpoint.load(blocks, table, Progress.NONE);
    return table;
  }

  /**
   * Whether it was loaded.
   *
   * @param rowsAreTrue whether it is one of those that were written, then
   */
  private boolean loadOrRefuse(Path directory, String what, boolean rowsAreTrue) throws Exception {
    try (Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 0)) {
      RandomTable found = load(checkpoint);
      if (rowsAreTrue) {
        assertThat(Math.max(0, found.offset()) % RECORDS).as("seed %d: %s", seed, what).isZero();
        RandomTable reference = references.computeIfAbsent(found.offset(), this::foldedTo);
        assertThat(found.differences(reference)).as("seed %d: %s", seed, what).isEmpty();
      }
      return true;
    } catch (CheckpointRefusedException e) {
      assertThat(e).hasMessageNotContaining("null");
      return false;
    }
  }

  private RandomTable foldedTo(long offset) {
    RandomTable reference = new RandomTable(seed, HASHES, RandomTable.newBlocks());
    reference.foldTo(offset, t -> {});
    return reference;
  }

  private @Nullable Reason verify(Path directory) {
    return reason(() -> Checkpoint.verify(directory, TOPIC, 0));
  }

  private static @Nullable Reason refused(Path directory, Uuid topic, int partition) {
    return reason(() -> Checkpoint.open(directory, topic, partition).close());
  }

  private static @Nullable Reason reason(org.assertj.core.api.ThrowableAssert.ThrowingCallable of) {
    CheckpointRefusedException refused = catchThrowableOfType(CheckpointRefusedException.class, of);
    if (refused != null) {
      System.out.println(refused.reason() + ", " + refused.getMessage());
    }
    return refused == null ? null : refused.reason();
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().matches("CURRENT|MANIFEST.*|.*\\.sst"))
          .sorted()
          .toList();
    }
  }

  private Path copy(Path directory) throws IOException {
    Path copy = Files.createDirectory(scratch.resolve("copy" + copies++));
    List<Path> all = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      files.forEach(all::add);
    }
    for (Path file : all) {
      Files.copy(file, copy.resolve(file.getFileName()));
    }
    return copy;
  }
}
