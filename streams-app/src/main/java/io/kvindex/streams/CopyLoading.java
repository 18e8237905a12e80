// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.checkpoint.Borrower;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.CheckpointRefusedException;
import io.kvindex.streams.checkpoint.Header;
import io.kvindex.streams.checkpoint.Replacement;
import io.kvindex.streams.checkpoint.Wanted;
import io.kvindex.streams.runtime.FoldedTable;
import io.kvindex.streams.runtime.LogTopic;
import io.kvindex.streams.runtime.Refusal;
import io.kvindex.streams.runtime.TableLoader;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings tables into memory: from this process's own checkpoint, from another one's, or empty, to
 * be folded from the log's beginning. For loading threads, but for questions how far it is.
 */
final class CopyLoading implements TableLoader {

  private static final Logger LOG = LoggerFactory.getLogger(CopyLoading.class);

  private final CopyConfig config;
  private final LogTopic topic;
  private final FoldedPartition.Shared shared;
  private final Borrower borrower;
  private final MeterRegistry metrics;
  private final Map<Integer, PartitionProgress> loads = new ConcurrentHashMap<>();
  private final Map<Integer, FailedFolds> failed = new ConcurrentHashMap<>();
  private volatile String logId = "";

  /**
   * @param topic the log; the caller closes it
   * @param lenders see {@link IndexCopy#start}
   */
  CopyLoading(
      CopyConfig config,
      LogTopic topic,
      FoldedPartition.Shared shared,
      Supplier<List<String>> lenders,
      MeterRegistry metrics) {
    this.config = config;
    this.topic = topic;
    this.shared = shared;
    this.metrics = metrics;
    String only = config.borrowFrom();
    borrower = new Borrower(only == null ? lenders : () -> List.of(only), metrics);
  }

  /** Kafka's id of the log, empty = not known yet. Any thread. */
  String logId() {
    return logId;
  }

  /** How far a load is, null = none is under way. Any thread. */
  @Nullable PartitionProgress progress(int partition) {
    return loads.get(partition);
  }

  /** Whether there are rows that are not being borrowed anew. Any thread. */
  boolean hasOwn(int partition) {
    PartitionProgress load = loads.get(partition);
    return (load == null || load.phase() != Phase.BORROWING) && hasRows(directory(partition));
  }

  @Override
  public FoldedTable load(int partition, Uuid topicId, @Nullable Refusal before)
      throws IOException, InterruptedException {
    logId = topicId.toString();
    FailedFolds failures = failed.computeIfAbsent(partition, p -> new FailedFolds());
    failures.note(before);
    Path directory = directory(partition);
    Replacement.settle(directory);
    boolean isLost = before != null && before.cause() == Refusal.Cause.LOG_LOST_END;
    long differsFrom = before != null && isLost ? before.offset() : Long.MAX_VALUE;
    boolean mayBorrow = config.starts().isEmpty();
    while (true) {
      try {
        if (!goesOn(directory, topicId, partition, differsFrom) && mayBorrow) {
          mayBorrow = false;
          borrow(directory, new Wanted(partition, topicId, differsFrom, logStart(partition)));
        }
        FoldedPartition table = open(directory, topicId, partition);
        table.leaveOut(failures.notBefore(table.foldedOffset()));
        return table;
      } catch (CheckpointRefusedException e) {
        LOG.warn(
            "the checkpoint of partition {} can not be used ({}) and is deleted: {}",
            partition,
            e.reason().label(),
            e.getMessage());
        metrics.counter("kvindex.checkpoints.refused", "reason", e.reason().label()).increment();
        Replacement.delete(directory);
      }
    }
  }

  private Path directory(int partition) {
    return config.directory().resolve("tables").resolve(Integer.toString(partition));
  }

  /**
   * Whether there is a checkpoint of this process's own, and the log has what follows. One with
   * records that the log does not have any more is of no use, and deleted.
   */
  private boolean goesOn(Path directory, Uuid topicId, int partition, long differsFrom)
      throws IOException, CheckpointRefusedException {
    if (!hasRows(directory)) {
      return false;
    }
    Header header;
    try (Checkpoint checkpoint = Checkpoint.open(directory, topicId, partition)) {
      header = checkpoint.header();
    }
    if (header == null || header.folded().offset() >= differsFrom) {
      Replacement.delete(directory); // or it is of a process that wrote none
      return false;
    }
    // Where nobody says, it is better than nothing.
    Long start = topic.starts(Set.of(partition)).get(partition);
    return start == null || header.folded().offset() + 1 >= start;
  }

  private static boolean hasRows(Path directory) {
    return Files.exists(directory.resolve("CURRENT"));
  }

  private long logStart(int partition) throws IOException {
    Long start = topic.starts(Set.of(partition)).get(partition);
    if (start == null) {
      throw new IOException(
          "Kafka does not say where the log of partition " + partition + " begins");
    }
    return start;
  }

  private void borrow(Path directory, Wanted wanted) throws IOException, InterruptedException {
    int partition = wanted.partition();
    long began = System.nanoTime();
    Header borrowed;
    loads.put(partition, PartitionProgress.of(Phase.BORROWING));
    try {
      borrowed =
          borrower.borrow(
              wanted, directory, (done, of) -> loads.put(partition, borrowing(done, of, began)));
    } finally {
      loads.remove(partition);
    }
    if (borrowed == null && wanted.logStart() > 0) {
      LOG.warn(
          "nobody lends partition {}: it has no records before {}, where the log begins",
          partition,
          wanted.logStart());
    }
  }

  private static PartitionProgress borrowing(long done, long of, long beganNs) {
    double seconds = Math.max(1, System.nanoTime() - beganNs) / 1e9;
    return new PartitionProgress(Phase.BORROWING, done, of, (long) (done / seconds));
  }

  private FoldedPartition open(Path directory, Uuid topicId, int partition)
      throws IOException, CheckpointRefusedException, InterruptedException {
    Long from = config.starts().get(partition);
    long first = from != null ? from : hasRows(directory) ? -1 : logStart(partition);
    Checkpoint checkpoint = Checkpoint.open(directory, topicId, partition);
    boolean isLoaded = false;
    try {
      long began = System.nanoTime();
      FoldedPartition table =
          new FoldedPartition(
              partition,
              shared,
              checkpoint,
              first,
              (names, of) ->
                  loads.put(partition, new PartitionProgress(Phase.LOADING, names, of, 0)));
      isLoaded = true;
      LOG.info(
          "partition {} is loaded up to offset {}: {} names in {} ms",
          partition,
          table.foldedOffset(),
          table.names(),
          (System.nanoTime() - began) / 1_000_000);
      return table;
    } finally {
      loads.remove(partition);
      if (!isLoaded) {
        checkpoint.close();
      }
    }
  }
}
