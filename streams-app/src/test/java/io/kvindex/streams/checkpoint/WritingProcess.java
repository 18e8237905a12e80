// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Journal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.apache.kafka.common.Uuid;
import org.rocksdb.RocksDBException;

/** A process that folds and writes checkpoints until it is killed, and says how far it came. */
final class WritingProcess {

  static final Uuid TOPIC = new Uuid(5, 6);
  static final int PARTITION = 2;
  static final int HASHES = 3_000;

  private WritingProcess() {}

  /**
   * Runs it.
   *
   * @param args directory, seed of the table, most records of a checkpoint
   */
  public static void main(String[] args)
      throws IOException, CheckpointRefusedException, InterruptedException, RocksDBException {
    long seed = Long.parseLong(args[1]);
    int most = Integer.parseInt(args[2]);
    Journal.Pieces pieces = new Journal.Pieces();
    Checkpoint checkpoint = Checkpoint.open(Path.of(args[0]), TOPIC, PARTITION);
    Blocks blocks = RandomTable.newBlocks();
    RandomTable table = new RandomTable(seed, HASHES, blocks);
    checkpoint.load(blocks, table, Progress.NONE);
    blocks.swap(new Journal(pieces));
    System.out.println("loaded " + table.offset());
    SplittableRandom random = new SplittableRandom();
    while (true) {
      table.foldTo(table.offset() + 1 + random.nextInt(most), t -> {});
      Journal full = blocks.swap(new Journal(pieces));
      checkpoint.write(full, table.folded());
      full.release();
      System.out.println("written " + table.offset());
    }
  }
}
