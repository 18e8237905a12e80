// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static java.util.Comparator.naturalOrder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.Incarnation;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Holder;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables that are loaded again go on as if nothing had happened. */
class CheckpointTest {

  private static final Uuid TOPIC = new Uuid(1, 2);
  private static final int ROUNDS = Integer.getInteger("kvindex.test.rounds", 25);
  private static final int RECORDS = 400;

  @TempDir Path directory;

  private final Journal.Pieces pieces = new Journal.Pieces();

  /**
   * Checkpoints at random records, some of them with nothing or very much in them; after some more
   * records the table is loaded again and told the rest once more.
   */
  @Test
  void shouldEqualATableThatNeverStopped_whenItIsLoadedAgainAndAgain() throws Exception {
    long seed = TestSeed.of(CheckpointTest.class);
    SplittableRandom random = new SplittableRandom(seed);
    int hashes = 200 + random.nextInt(2_000);
    RandomTable reference = new RandomTable(seed, hashes, RandomTable.newBlocks());
    Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 3);
    RandomTable table = load(checkpoint, seed, hashes);
    for (int round = 0; round < ROUNDS; round++) {
      for (int part = random.nextInt(4); part > 0; part--) {
        table.foldTo(table.offset() + random.nextInt(RECORDS), t -> {});
        write(checkpoint, table);
      }
      long written = table.offset();
      table.foldTo(table.offset() + random.nextInt(RECORDS), t -> {});
      long end = table.offset();
      reference.foldTo(end, t -> {});
      assertThat(table.differences(reference)).as("seed %d round %d", seed, round).isEmpty();
      if (random.nextBoolean()) {
        checkpoint.close();
        checkpoint = Checkpoint.open(directory, TOPIC, 3);
      }
      table = load(checkpoint, seed, hashes);
      assertThat(table.offset()).isLessThanOrEqualTo(written);
      RandomTable again = new RandomTable(seed, hashes, RandomTable.newBlocks());
      again.foldTo(table.offset(), t -> {});
      assertThat(table.differences(again)).as("loaded, %d round %d", seed, round).isEmpty();
      table.foldTo(end, t -> {});
      assertThat(table.differences(reference)).as("seed %d round %d", seed, round).isEmpty();
    }
    System.out.println(reference.seen + ", " + reference.offset() + " records");
    checkpoint.close();
  }

  @Test
  void shouldLetGoOfTheFiles_whenLoadingIsInterrupted() throws Exception {
    RandomTable table = new RandomTable(1, 5_000, RandomTable.newBlocks());
    table.blocks().swap(new Journal(pieces));
    try (Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 3)) {
      table.foldTo(1_000, t -> {});
      write(checkpoint, table);
      Blocks blocks = RandomTable.newBlocks();
      RandomTable half = new RandomTable(1, 5_000, blocks);
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> checkpoint.load(blocks, half::load, Progress.NONE))
          .isInstanceOf(InterruptedException.class);
      assertThat(Thread.interrupted()).isFalse();
    }
    try (Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 3)) {
      assertThat(load(checkpoint, 1, 5_000).differences(table)).isEmpty();
    }
  }

  /** A process that is killed at a bad moment leaves rows with two names. */
  @Test
  void shouldLeaveRowsAlone_whenTheirFileHasItsFirstNameStill() throws Exception {
    RandomTable table = new RandomTable(1, 5_000, RandomTable.newBlocks());
    table.blocks().swap(new Journal(pieces));
    for (int round = 0; round < 3; round++) {
      try (Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 3)) {
        assertThat(load(checkpoint, 1, 5_000).differences(table)).isEmpty();
        table.foldTo(table.offset() + 300, t -> {});
        write(checkpoint, table);
      }
      try (Stream<Path> files = Files.list(directory)) {
        Path newest =
            files
                .filter(file -> file.toString().endsWith(".sst"))
                .max(naturalOrder())
                .orElseThrow();
        Files.createLink(directory.resolve("rows.part"), newest);
      }
    }
  }

  /** Engines that seed their hashes by chance: the index has a few keys, the memory many names. */
  @Test
  void shouldMakeRoomForKeysOnly_whenBlocksHaveManyNames() throws Exception {
    int keys = 500;
    Blocks blocks = new Blocks(new Epochs(), new Journal(pieces));
    PrefixIndex filled = blocks.addTable(0);
    blocks.addSpace(0, 0, false, 0);
    Owner owner = new Owner("t", "e", 0, 0, "GPU", false, null, new Incarnation(1, 1, 0));
    Holder holder = blocks.addHolder(0, 0, owner);
    for (int name = 0; name < 200 * keys; name++) {
      blocks.teach(0, name + 1, name % keys + 1, 0, 0, 1, 0, true);
      blocks.setCopies(holder, 0, 1, 1, 0);
    }
    try (Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 3)) {
      checkpoint.write(blocks.swap(new Journal(pieces)), new Folded(0, 0, 0));
      Blocks again = new Blocks(new Epochs(), Journal.none());
      PrefixIndex loaded = again.addTable(0);
      again.addSpace(0, 0, false, 0);
      again.addHolder(0, 0, owner);
      checkpoint.load(again, rows -> {}, Progress.NONE);
      assertThat(again.names()).isEqualTo(200 * keys);
      assertThat(loaded.figures().blocks()).isEqualTo(keys);
      assertThat(loaded.figures().bytes()).isLessThan(2 * filled.figures().bytes());
    }
  }

  private RandomTable load(Checkpoint checkpoint, long seed, int hashes) throws Exception {
    Blocks blocks = RandomTable.newBlocks();
    RandomTable table = new RandomTable(seed, hashes, blocks);
    Header header = checkpoint.load(blocks, table::load, Progress.NONE);
    if (header != null) {
      assertThat(header.folded()).isEqualTo(table.folded());
    }
    blocks.swap(new Journal(pieces));
    return table;
  }

  private void write(Checkpoint checkpoint, RandomTable table) throws Exception {
    Journal full = table.blocks().swap(new Journal(pieces));
    checkpoint.write(full, table.folded());
    full.release();
  }
}
