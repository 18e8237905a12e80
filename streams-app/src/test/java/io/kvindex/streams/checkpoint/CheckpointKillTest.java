// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes killed while they write checkpoints. How many: property {@code kvindex.test.kills},
 * default 20.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class CheckpointKillTest {

  private static final Pattern MISSING = Pattern.compile("([0-9]+\\.sst): No such file");
  private static final int KILLS = Integer.getInteger("kvindex.test.kills", 10);
  private static final int LONGEST_MS = 700;

  /** Records folded on after a loading, so that what is in no row shows. */
  private static final int ONWARDS = 300;

  @TempDir Path directory;

  @Test
  void shouldGoOnFromAWholeCheckpoint_whenTheProcessIsKilledAtAnyInstant() throws Exception {
    long seed = Long.getLong("kvindex.test.seed", System.nanoTime());
    System.out.println("seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    RandomTable reference = new RandomTable(seed, KilledWriter.HASHES, RandomTable.newBlocks());
    int advanced = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      killOne(seed, random);
      long before = reference.offset();
      RandomTable loaded = load(seed);
      assertThat(loaded.offset()).as("kill %d", kill).isGreaterThanOrEqualTo(before);
      advanced += loaded.offset() > before ? 1 : 0;
      reference.foldTo(loaded.offset(), t -> {});
      assertThat(loaded.differences(reference)).as("seed %d kill %d", seed, kill).isEmpty();
      // What was loaded goes on as if nothing had happened; the reference must not run ahead.
      if (kill % 5 == 4) {
        RandomTable onwards = load(seed);
        onwards.foldTo(onwards.offset() + ONWARDS, t -> {});
        RandomTable again = new RandomTable(seed, KilledWriter.HASHES, RandomTable.newBlocks());
        again.foldTo(onwards.offset(), t -> {});
        assertThat(onwards.differences(again)).as("onwards, %d kill %d", seed, kill).isEmpty();
      }
    }
    System.out.printf(
        "%d kills, %d of them after a checkpoint more, %d records%n",
        KILLS, advanced, reference.offset() + 1);
    assertThat(advanced).as("processes that wrote something").isGreaterThan(KILLS / 2);
  }

  private RandomTable load(long seed) throws Exception {
    try (Checkpoint checkpoint = Checkpoint.open(directory, KilledWriter.TOPIC, 0)) {
      return KilledWriter.load(checkpoint, seed);
    }
  }

  private void killOne(long seed, SplittableRandom random) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                KilledWriter.class.getName(),
                directory.toString(),
                Long.toString(seed))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said = process.inputReader()) {
      String line = said.readLine();
      assertThat(line).isEqualTo("running");
      process.waitFor(random.nextInt(LONGEST_MS), TimeUnit.MILLISECONDS);
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /**
   * What a power failure leaves between two checkpoints: files are synced before the manifest names
   * them, and the manifest before the write returns. So the manifest may end anywhere behind the
   * first one; new files may be anything as long as it does not name them. Zeros behind its end are
   * what some file systems leave: that may be refused.
   */
  @Test
  void shouldBeOneOfTwoCheckpoints_whenUnsyncedBytesAreLost() throws Exception {
    long seed = Long.getLong("kvindex.test.seed", System.nanoTime());
    System.out.println("seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    Path live = directory.resolve("live");
    RandomTable table = new RandomTable(seed, KilledWriter.HASHES, RandomTable.newBlocks());
    Journals journals = new Journals(table);
    int[] found = new int[2];
    int refused = 0;
    for (int round = 0; round < 8; round++) {
      long[] offsets = new long[2];
      Path[] copies = {directory.resolve("a" + round), directory.resolve("b" + round)};
      try (Checkpoint checkpoint = Checkpoint.open(live, KilledWriter.TOPIC, 0)) {
        for (int i = 0; i < 2; i++) {
          table.foldTo(table.offset() + 1 + random.nextInt(500), t -> {});
          journals.write(checkpoint);
          offsets[i] = table.offset();
          checkpoint.lend(copies[i]); // all of one instant, whatever compactions do
        }
      }
      for (int cut = 0; cut < 6; cut++) {
        Path lost = directory.resolve("lost" + round + "-" + cut);
        boolean zeros = random.nextInt(4) == 0;
        loseUnsynced(copies[0], copies[1], lost, zeros, random);
        RandomTable loaded;
        try (Checkpoint checkpoint = Checkpoint.open(lost, KilledWriter.TOPIC, 0)) {
          loaded = KilledWriter.load(checkpoint, seed);
        } catch (CheckpointRefusedException e) {
          if (!isOfNoMoment(e, copies)) {
            assertThat(zeros).as("seed %d: %s", seed, e).isTrue();
            refused++;
          }
          continue;
        }
        assertThat(loaded.offset()).as("seed %d", seed).isIn(offsets[0], offsets[1]);
        found[loaded.offset() == offsets[0] ? 0 : 1]++;
        RandomTable again = new RandomTable(seed, KilledWriter.HASHES, RandomTable.newBlocks());
        again.foldTo(loaded.offset(), t -> {});
        assertThat(loaded.differences(again)).as("seed %d round %d", seed, round).isEmpty();
      }
    }
    System.out.printf(
        "the one before %d times, the one behind %d times, %d refused%n",
        found[0], found[1], refused);
    assertThat(found[0]).isPositive();
    assertThat(found[1]).isPositive();
  }

  /**
   * Whether the cut manifest names a file that was made and deleted between the two copies. RocksDB
   * deletes it only once the manifest that no longer names it is synced, so no loss of power leaves
   * this.
   */
  private static boolean isOfNoMoment(CheckpointRefusedException e, Path[] copies) {
    Matcher missing = MISSING.matcher("" + e.getMessage());
    return missing.find()
        && Arrays.stream(copies).noneMatch(copy -> Files.exists(copy.resolve(missing.group(1))));
  }

  private static void loseUnsynced(
      Path before, Path after, Path to, boolean zeros, SplittableRandom random) throws IOException {
    copy(after, to);
    // What a compaction deleted is there still: it does so when its manifest is synced.
    copyMissing(before, to);
    Path manifest = manifest(after);
    Path known = before.resolve(manifest.getFileName());
    byte[] whole = Files.readAllBytes(manifest);
    int synced = (int) Files.size(known);
    int cut =
        switch (random.nextInt(4)) {
          case 0 -> synced;
          case 1 -> whole.length;
          default -> random.nextInt(synced, whole.length + 1);
        };
    byte[] left = Arrays.copyOf(whole, cut);
    if (zeros) {
      left = Arrays.copyOf(left, whole.length);
    }
    Files.write(to.resolve(manifest.getFileName()), left);
    if (cut > synced) {
      return;
    }
    try (Stream<Path> files = Files.list(to)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".sst")).toList()) {
        if (!Files.exists(before.resolve(file.getFileName()))) {
          byte[] bytes = Files.readAllBytes(file);
          Files.write(file, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)));
        }
      }
    }
  }

  private static Path manifest(Path directory) throws IOException {
    return directory.resolve(Files.readString(directory.resolve("CURRENT")).trim());
  }

  private static void copyMissing(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        if (!Files.exists(to.resolve(file.getFileName()))) {
          Files.copy(file, to.resolve(file.getFileName()));
        }
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    copyMissing(from, to);
  }
}
