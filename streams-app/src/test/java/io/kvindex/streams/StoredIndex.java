// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.event.EventRecord;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fixture.CountedOutcomes;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.view.PartitionView;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.kafka.common.Uuid;

/** A partition with its checkpoint in a directory, fed by hand. */
final class StoredIndex implements AutoCloseable {

  private static final JournalLimits LIMITS =
      new JournalLimits(200, Duration.ofMinutes(1), Duration.ofMinutes(1));

  final Checkpoint checkpoint;
  private final FoldedPartition partition;
  private long offset;

  StoredIndex(Path directory) throws Exception {
    checkpoint = Checkpoint.open(directory, Uuid.ONE_UUID, 0);
    partition =
        FoldedPartition.load(
            0,
            new FoldedPartition.Shared(
                new Epochs(), new Journal.Pieces(), new CountedOutcomes(), Limits.DEFAULT, LIMITS),
            checkpoint,
            -1,
            (names, total) -> {});
    partition.readsSettled();
    offset = partition.foldedOffset() + 1;
  }

  void take(EventRecord record) {
    if (offset == 0) {
      partition.startsAt(0);
    }
    partition.take(record, offset++, 1_000_000);
  }

  PartitionView view() {
    return partition.view();
  }

  @Override
  public void close() {
    partition.close();
  }
}
