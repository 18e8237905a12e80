// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.awaitility.Awaitility.await;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fixture.CountedOutcomes;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
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
        new FoldedPartition(
            0,
            new FoldedPartition.Shared(
                new Epochs(),
                new Journal.Pieces(),
                new CountedOutcomes(),
                Limits.DEFAULT,
                LIMITS,
                new SimpleMeterRegistry()),
            checkpoint,
            -1,
            (names, total) -> {});
    offset = partition.foldedOffset() + 1;
  }

  void take(EventRecord record) {
    partition.fold(offset++, 1_000_000, null, EventRecordCodec.encode(record), 0);
  }

  /** With all that was folded on the disk: nobody folds on, so nobody else begins a checkpoint. */
  PartitionView view() {
    await()
        .pollInterval(Duration.ofMillis(1))
        .until(
            () -> {
              partition.released();
              return partition.checkpointState().folded().offset() >= partition.foldedOffset();
            });
    return partition.view();
  }

  @Override
  public void close() {
    partition.close();
  }
}
