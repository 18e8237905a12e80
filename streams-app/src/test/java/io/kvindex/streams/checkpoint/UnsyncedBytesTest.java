// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.TestSeed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints after a loss of power. Killed processes: {@code KilledCopyTest}. */
class UnsyncedBytesTest {

  private static final Pattern MISSING = Pattern.compile("([0-9]+\\.sst): No such file");

  @TempDir Path directory;

  /**
   * What a power failure leaves between two checkpoints: files are synced before the manifest names
   * them, and the manifest before the write returns. So the manifest may end anywhere behind the
   * first one; new files may be anything as long as it does not name them. Zeros behind its end are
   * what some file systems leave: that may be refused.
   */
  @Test
  void shouldBeOneOfTwoCheckpoints_whenUnsyncedBytesAreLost() throws Exception {
    long seed = TestSeed.of(UnsyncedBytesTest.class);
    SplittableRandom random = new SplittableRandom(seed);
    Path live = directory.resolve("live");
    RandomTable table = new RandomTable(seed, RandomTable.HASHES, RandomTable.newBlocks());
    Journals journals = new Journals(table);
    int[] found = new int[2];
    int refused = 0;
    for (int round = 0; round < 8; round++) {
      long[] offsets = new long[2];
      Path[] copies = {directory.resolve("a" + round), directory.resolve("b" + round)};
      try (Checkpoint checkpoint = Checkpoint.open(live, RandomTable.TOPIC, 0)) {
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
        try (Checkpoint checkpoint = Checkpoint.open(lost, RandomTable.TOPIC, 0)) {
          loaded = RandomTable.load(checkpoint, seed);
        } catch (CheckpointRefusedException e) {
          if (!isOfNoMoment(e, copies)) {
            assertThat(zeros).as("seed %d: %s", seed, e).isTrue();
            refused++;
          }
          continue;
        }
        assertThat(loaded.offset()).as("seed %d", seed).isIn(offsets[0], offsets[1]);
        found[loaded.offset() == offsets[0] ? 0 : 1]++;
        RandomTable again = new RandomTable(seed, RandomTable.HASHES, RandomTable.newBlocks());
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
