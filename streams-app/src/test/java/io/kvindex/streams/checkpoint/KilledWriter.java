// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Journal;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.kafka.common.Uuid;

/** A process that folds random records and writes checkpoints behind until it is killed. */
final class KilledWriter {

  static final Uuid TOPIC = new Uuid(7, 8);
  static final int HASHES = 3_000;

  /** Due nearly all the time. */
  private static final JournalLimits LIMITS =
      new JournalLimits(400, Duration.ofMillis(2), Duration.ofSeconds(30));

  private KilledWriter() {}

  /**
   * @param args directory, seed
   */
  public static void main(String[] args) throws Exception {
    Checkpoint checkpoint = Checkpoint.open(Path.of(args[0]), TOPIC, 0);
    RandomTable table = load(checkpoint, Long.parseLong(args[1]));
    CheckpointThread behind =
        new CheckpointThread(
            0, table.blocks(), table.folded(), checkpoint::write, new Journal.Pieces(), LIMITS);
    System.out.println("running");
    while (true) {
      table.fold();
      Folded folded = table.folded();
      behind.maybeSwap(folded.offset(), folded.sum(), folded.lineageStart());
    }
  }

  static RandomTable load(Checkpoint checkpoint, long seed) throws Exception {
    Blocks blocks = RandomTable.newBlocks();
    RandomTable table = new RandomTable(seed, HASHES, blocks);
    checkpoint.load(blocks, table, Progress.NONE);
    return table;
  }
}
