// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.checkpoint.Borrower;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.checkpoint.MadeUpFormer;
import io.kvindex.streams.checkpoint.Progress;
import io.kvindex.streams.checkpoint.Replacement;
import io.kvindex.streams.checkpoint.Wanted;
import io.kvindex.streams.fixture.CheckpointedIndex;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A process that does with one partition what a copy does, until it is killed: ends what a former
 * one had begun, borrows if it has nothing, loads, folds the log on, and writes checkpoints behind.
 * Says what it is about to do, of each checkpoint what is on the disk for sure, and when the log
 * ends.
 */
final class KilledCopy {

  /** All of them are met. */
  static final Limits LIMITS = new Limits(4, Duration.ofSeconds(8), 100, 6, 100, 100);

  /** Marks a record that is missing. */
  static final int MISSING = -1;

  /** So that kills come in the middle. */
  private static final Progress SLOW = (done, of) -> LockSupport.parkNanos(500_000);

  private static final int RECORDS_A_TURN = 8;
  private static final long TURN_NS = 200_000;

  private final Path directory;
  private long synced;

  private KilledCopy(Path directory) {
    this.directory = directory;
  }

  /**
   * @param args directory, directory of a backup, file with the log, where in it the first record
   *     behind the checkpoint is, that one's offset, changes and milliseconds after which a
   *     checkpoint is due
   */
  public static void main(String[] args) throws Exception {
    MadeUpFormer.begin();
    new KilledCopy(Path.of(args[0]))
        .run(
            args[1],
            Path.of(args[2]),
            Long.parseLong(args[3]),
            Long.parseLong(args[4]),
            new JournalLimits(
                Integer.parseInt(args[5]),
                Duration.ofMillis(Long.parseLong(args[6])),
                Duration.ofSeconds(30)));
  }

  private void run(String backup, Path log, long position, long first, JournalLimits journal)
      throws Exception {
    say("starts");
    Replacement.settle(directory);
    if (!Files.exists(directory.resolve("CURRENT"))) {
      say("borrows");
      new Borrower(() -> List.of(backup), new SimpleMeterRegistry())
          .borrow(new Wanted(0, CheckpointedIndex.TOPIC, Long.MAX_VALUE, first), directory, SLOW);
    }
    say("loads");
    FoldedPartition.Shared shared =
        new FoldedPartition.Shared(
            new Epochs(),
            new Journal.Pieces(),
            (outcome, n) -> {},
            LIMITS,
            journal,
            new SimpleMeterRegistry());
    Checkpoint checkpoint = Checkpoint.open(directory, CheckpointedIndex.TOPIC, 0);
    FoldedPartition table = new FoldedPartition(0, shared, checkpoint, -1, SLOW);
    if (table.foldedOffset() + 1 != first) {
      throw new IllegalStateException(
          "loaded up to " + table.foldedOffset() + " in place of " + (first - 1));
    }
    say("folds");
    try (InputStream file = Files.newInputStream(log)) {
      file.skipNBytes(position);
      fold(table, new DataInputStream(new BufferedInputStream(file)), first);
    }
    say("ended");
    new CountDownLatch(1).await();
  }

  private void fold(FoldedPartition table, DataInputStream log, long first) throws IOException {
    int length;
    for (long offset = first; (length = log.readInt()) != MISSING - 1; offset++) {
      long ms = log.readLong();
      if (length != MISSING) {
        byte[] record = log.readNBytes(length);
        long folded = table.foldedOffset();
        if (offset > folded + 1) {
          table.missed(folded + 1, offset - 1);
        }
        table.fold(offset, ms, null, record, offset);
        sayWhatIsSynced(table.checkpointState().folded().offset());
        if (offset % RECORDS_A_TURN == 0) {
          LockSupport.parkNanos(TURN_NS);
        }
      }
    }
  }

  /** Nothing but a compaction is under way then, which may end while this looks. */
  private void sayWhatIsSynced(long offset) throws IOException {
    if (offset <= synced) {
      return;
    }
    synced = offset;
    Set<String> rows = new TreeSet<>(keepRows());
    String manifest = Files.readString(directory.resolve("CURRENT")).trim();
    long length = Files.size(directory.resolve(manifest));
    rows.addAll(keepRows());
    say("synced " + manifest + " " + length + " " + String.join(",", rows));
  }

  /** By other names, as no power failure brings back what was deleted. */
  private List<String> keepRows() throws IOException {
    List<String> rows;
    try (Stream<Path> files = Files.list(directory)) {
      rows = files.map(f -> f.getFileName().toString()).filter(f -> f.endsWith(".sst")).toList();
    }
    Path kept = directory.resolveSibling("kept");
    for (String file : rows) {
      if (!Files.exists(kept.resolve(file))) {
        try {
          Files.createLink(kept.resolve(file), directory.resolve(file));
        } catch (NoSuchFileException e) {
          // Compacted between two looks: the next one lists what it became.
        }
      }
    }
    return rows;
  }

  private static void say(String what) {
    System.out.println(what);
  }
}
