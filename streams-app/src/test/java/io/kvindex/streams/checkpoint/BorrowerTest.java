// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.sandbox.TestSeed;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

/** What comes from other processes is whole and of this log, or is not used. */
@Timeout(120)
class BorrowerTest {

  private static final Uuid TOPIC = RandomTable.TOPIC;
  private static final long SEED = 5;
  private static final int RECORDS = 1_500;

  /** Behind a stream's mark, version and partition. */
  private static final int LAYOUT_AT = 9;

  @TempDir Path dir;

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final List<StandInLender> lenders = new ArrayList<>();
  private final List<String> places = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(TestSeed.of(BorrowerTest.class));
  private Path own;
  private Path backup;
  private Header header;

  /** A backup with one checkpoint in several files. */
  @BeforeEach
  void write() throws Exception {
    own = Files.createDirectories(dir.resolve("tables")).resolve("0");
    backup = Files.createDirectories(dir.resolve("backup"));
    RandomTable table = new RandomTable(SEED, RandomTable.HASHES, RandomTable.newBlocks());
    Journals journals = new Journals(table);
    try (Checkpoint checkpoint = Checkpoint.open(dir.resolve("lender"), TOPIC, 0)) {
      for (int i = 1; i <= 3; i++) {
        table.foldTo(i * RECORDS / 3 - 1, t -> {});
        journals.write(checkpoint);
      }
      header = Objects.requireNonNull(checkpoint.lend(backup.resolve("0")));
    }
  }

  @AfterEach
  void close() {
    lenders.forEach(StandInLender::close);
  }

  private StandInLender lender(Header says) throws IOException {
    StandInLender lender = new StandInLender(says, backup.resolve("0"));
    lenders.add(lender);
    places.add(lender.place());
    return lender;
  }

  private Header says(long offset, long since) {
    return new Header(TOPIC, 0, 1, new Folded(offset, 0, since), 0, new byte[0]);
  }

  private @Nullable Header borrow(long before, long logStart) throws Exception {
    return new Borrower(() -> places, metrics, Duration.ofSeconds(2), Duration.ofMillis(20))
        .borrow(new Wanted(0, TOPIC, before, logStart), own, Progress.NONE);
  }

  private TreeMap<String, Integer> counted() {
    TreeMap<String, Integer> counted = new TreeMap<>();
    metrics
        .find("kvindex.borrowed")
        .counters()
        .forEach(c -> counted.put(c.getId().getTag("result"), (int) c.count()));
    return counted;
  }

  private void assertWhole() throws Exception {
    RandomTable again = new RandomTable(SEED, RandomTable.HASHES, RandomTable.newBlocks());
    again.foldTo(RECORDS - 1, t -> {});
    try (Checkpoint checkpoint = Checkpoint.open(own, TOPIC, 0)) {
      RandomTable loaded = RandomTable.load(checkpoint, SEED);
      assertThat(loaded.differences(again)).isEmpty();
      // It is this process's own from now on.
      Journals journals = new Journals(loaded);
      loaded.foldTo(RECORDS + 200, t -> {});
      journals.write(checkpoint);
    }
    assertNothingIsLeft();
  }

  private void assertNothingIsLeft() throws IOException {
    try (Stream<Path> files = Files.list(dir.resolve("tables"))) {
      assertThat(files).allMatch(own::equals);
    }
  }

  @Test
  void shouldHaveWhatTheLenderHas_whenItIsBorrowedOverHttpOrFromADirectory() throws Exception {
    lender(header);
    assertThat(Objects.requireNonNull(borrow(Long.MAX_VALUE, 0)).folded())
        .isEqualTo(header.folded());
    assertWhole();
    places.clear();
    places.add(backup.toString());
    assertThat(Objects.requireNonNull(borrow(Long.MAX_VALUE, 0)).folded())
        .isEqualTo(header.folded());
    assertWhole();
    assertThat(counted()).containsExactly(Map.entry("borrowed", 2));
  }

  /** Flipped bits, streams that end early, and bytes too many or too few anywhere. */
  @Test
  void shouldUseNothingOfIt_whenWhatComesIsNotWhatWasSent() throws Exception {
    StandInLender lender = lender(header);
    byte[] sent = lender.bytes();
    Path part = dir.resolve("part");
    for (int round = 0; round < 60; round++) {
      byte[] came = sent.clone();
      int at = random.nextInt(sent.length);
      switch (round % 3) {
        case 0 -> came[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> came = Arrays.copyOf(sent, at);
        default -> {
          came = Arrays.copyOf(sent, sent.length - 1);
          System.arraycopy(sent, at, came, Math.max(0, at - 1), came.length - at);
        }
      }
      byte[] bytes = came;
      lender.onTheWay = whole -> bytes;
      Header borrowed = borrow(Long.MAX_VALUE, 0);
      if (borrowed != null) {
        // A bit of what only the log line says.
        assertWhole();
        Replacement.delete(own);
      }
      assertThat(own).as("round %d at %d", round, at).doesNotExist();
      assertNothingIsLeft();
    }
    System.out.println(counted());
    assertThat(counted().get("damaged")).isGreaterThan(10);
    assertThat(counted().get("failed")).isGreaterThan(10);
    assertThat(part).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({"sst,damaged", "MANIFEST,damaged", "CURRENT,damaged", "sst-gone,damaged"})
  void shouldRefuseABackup_whenItsFilesAreDamaged(String what, String reason) throws Exception {
    Path file;
    try (Stream<Path> files = Files.list(backup.resolve("0"))) {
      file =
          files
              .filter(f -> f.getFileName().toString().contains(what.replace("-gone", "")))
              .findFirst()
              .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(file);
    Files.delete(file); // what it was copied from by a hard link stays
    if (!what.endsWith("-gone")) {
      bytes[bytes.length / 2] ^= 4;
      Files.write(file, bytes);
    }
    places.add(backup.toString());
    assertThat(borrow(Long.MAX_VALUE, 0)).isNull();
    assertThat(own).doesNotExist();
    assertThat(counted()).containsOnlyKeys(reason);
  }

  @Test
  void shouldSayWhy_whenACheckpointIsOfAnotherLogOrDoesNotFitThisOne() throws Exception {
    lender(new Header(new Uuid(1, 1), 0, 1, header.folded(), 0, new byte[0]));
    lender(says(99, 0)); // log begins with 101
    lender(says(2_000, 0)); // log was cut at 2000
    lender(says(1_900, 102));
    places.add("127.0.0.1:1");
    places.add("no host at all:x");
    places.add(dir.resolve("nowhere").toString());
    assertThat(borrow(2_000, 101)).isNull();
    assertThat(counted().keySet())
        .containsExactly("beyond_log", "failed", "foreign_topic", "partial", "too_old");
    assertThat(lenders).allMatch(one -> one.fetched.get() == 0);
    assertThat(own).doesNotExist();
  }

  /** Lenders may say one thing and send another. */
  @Test
  void shouldGoByWhatCame_whenALenderSaysSomethingElse() throws Exception {
    Path foreign = dir.resolve("foreign");
    try (Checkpoint checkpoint = Checkpoint.open(foreign, new Uuid(3, 3), 0)) {
      RandomTable table = new RandomTable(SEED, RandomTable.HASHES, RandomTable.newBlocks());
      Journals journals = new Journals(table);
      table.foldTo(50, t -> {});
      journals.write(checkpoint);
    }
    StandInLender liar = new StandInLender(header, foreign);
    lenders.add(liar);
    places.add(liar.place());
    assertThat(borrow(Long.MAX_VALUE, 0)).isNull();
    assertThat(counted()).containsOnlyKeys("foreign_topic");
  }

  @Test
  void shouldTakeTheNewestOfThoseThatLackLeast_whenThereAreSeveral() throws Exception {
    StandInLender partial = lender(says(9_000, 400));
    StandInLender older = lender(says(1_000, 0));
    StandInLender newest = lender(header);
    assertThat(borrow(Long.MAX_VALUE, 500)).isNotNull();
    assertThat(List.of(partial.fetched.get(), older.fetched.get(), newest.fetched.get()))
        .containsExactly(0, 0, 1);
    newest.onTheWay = bytes -> new byte[1];
    assertThat(borrow(Long.MAX_VALUE, 500)).isNotNull();
    assertThat(older.fetched.get()).isOne();
    older.onTheWay = newest.onTheWay;
    assertThat(borrow(Long.MAX_VALUE, 500)).as("nobody else").isNotNull();
    assertThat(partial.fetched.get()).isOne();
  }

  /** Folding the log instead would lose those blocks for good. */
  @Test
  void shouldNotBeContentWithTheLog_whenALenderCanNotHandOverWhatThatHasForgotten()
      throws Exception {
    StandInLender lender = lender(header);
    lender.onTheWay = bytes -> Arrays.copyOf(bytes, bytes.length / 2);
    assertThatThrownBy(() -> borrow(Long.MAX_VALUE, 500))
        .isInstanceOf(IOException.class)
        .hasMessage("partition 0 did not come from who has it");
    assertThat(borrow(Long.MAX_VALUE, 0)).as("the log has all").isNull();
    assertThat(own).doesNotExist();
  }

  @Test
  void shouldWaitOrAskTheNext_whenALenderIsBusy() throws Exception {
    StandInLender first = lender(header);
    first.busy.set(2);
    assertThat(borrow(Long.MAX_VALUE, 0)).isNotNull();
    assertThat(first.fetched.get()).isOne();
    first.busy.set(1_000);
    StandInLender second = lender(says(1_000, 0));
    assertThat(borrow(Long.MAX_VALUE, 0)).isNotNull();
    assertThat(second.fetched.get()).isOne();
    second.busy.set(1_000);
    long began = System.nanoTime();
    assertThat(borrow(Long.MAX_VALUE, 0)).isNull();
    assertThat(Duration.ofNanos(System.nanoTime() - began))
        .isBetween(Duration.ofSeconds(2), Duration.ofSeconds(10));
    assertThat(first.asked.get()).as("no storm").isLessThan(150);
    assertThat(counted()).containsEntry("busy", 1);
    assertThat(own).as("what was there").exists();
  }

  /** Own ones and others', also after a kill in the middle. */
  @Test
  void shouldLoseNothing_whenACheckpointIsOfTheLayoutBefore() throws Exception {
    MadeUpFormer.rewrite(backup.resolve("0"));
    places.add(backup.toString());
    assertThat(borrow(Long.MAX_VALUE, 0)).as("by a version that knows nothing of it").isNull();
    assertThat(counted()).containsOnlyKeys("unknown_layout");
    MadeUpFormer.begin();
    try {
      assertThat(Objects.requireNonNull(borrow(Long.MAX_VALUE, 0)).folded())
          .isEqualTo(header.folded());
      assertWhole();
      Replacement.delete(own);
      // The same from a replica that runs the version before.
      places.clear();
      StandInLender former = lender(header);
      former.layout = MadeUpFormer.LAYOUT;
      former.onTheWay =
          bytes -> {
            ByteBuffer.wrap(bytes).putInt(LAYOUT_AT, MadeUpFormer.LAYOUT);
            return bytes;
          };
      assertThat(Objects.requireNonNull(borrow(Long.MAX_VALUE, 0)).folded())
          .isEqualTo(header.folded());
      assertWhole();
      Replacement.delete(own);
      Files.move(backup.resolve("0"), own);
      Path part = Files.createDirectory(own.resolveSibling("0.part"));
      Files.copy(own.resolve("CURRENT"), part.resolve("CURRENT"));
      Files.createDirectory(own.resolveSibling("0.part.part"));
      Files.createDirectory(own.resolveSibling("0.part.whole"));
      Replacement.settle(own);
      assertWhole();
    } finally {
      MadeUpFormer.end();
    }
    try (Checkpoint checkpoint = Checkpoint.open(own, TOPIC, 0)) {
      assertThat(Objects.requireNonNull(checkpoint.header()).folded().offset())
          .isEqualTo(RECORDS + 200);
    }
  }

  @Test
  void shouldRefuseIt_whenRowsOfTheLayoutBeforeAreDamagedOrMissing() throws Exception {
    MadeUpFormer.begin();
    try {
      MadeUpFormer.rewrite(backup.resolve("0"));
      try (Options options = new Options();
          RocksDB db = RocksDB.open(options, backup.resolve("0").toString())) {
        db.put(new byte[] {'x', 1}, new byte[] {1});
      }
      places.add(backup.toString());
      assertThat(borrow(Long.MAX_VALUE, 0)).isNull();
      assertThat(own).doesNotExist();
      assertNothingIsLeft();
      assertThat(counted()).containsOnlyKeys("malformed_row");
    } finally {
      MadeUpFormer.end();
    }
  }

  @Test
  void shouldEnd_whenInterruptedWhileItWaits() throws Exception {
    lender(header).busy.set(1_000);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> borrow(Long.MAX_VALUE, 0)).isInstanceOf(InterruptedException.class);
  }
}
