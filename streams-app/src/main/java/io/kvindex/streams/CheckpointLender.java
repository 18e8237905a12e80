// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.checkpoint.CheckpointStream;
import io.kvindex.streams.checkpoint.Header;
import io.kvindex.streams.checkpoint.Replacement;
import io.kvindex.streams.view.CheckpointOffer;
import io.kvindex.streams.view.DumpFailedException;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends this process's checkpoints to others, one at a time and not faster than half of a gigabit
 * link: queries are more important. What is lent are hard links, which cost no space and are gone
 * when the loan ends. Thread-safe.
 */
public final class CheckpointLender {

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointLender.class);

  private static final long BYTES_PER_SECOND = 64L << 20;

  /** Who reads slower keeps others from borrowing. */
  private static final long LEAST_BYTES_PER_SECOND = 1L << 20;

  private static final long SLOW_START_NS = TimeUnit.MINUTES.toNanos(1);

  /** A new checkpoint is waited for so long, then the last one is lent. */
  private static final Duration FRESH_WITHIN = Duration.ofSeconds(10);

  /** Of all partitions together, where nothing is on the disk yet. */
  private static final Duration FIRST_WITHIN = Duration.ofSeconds(2);

  private final Path links;
  private final int partitions;
  private final IntFunction<@Nullable FoldedPartition> tables;
  private final IntPredicate isComing;
  private final MeterRegistry metrics;
  private final Semaphore one = new Semaphore(1);

  /**
   * @param directory for hard links, on the disk of the checkpoints; its content is deleted
   * @param tables those in use, by partition
   * @param isComing whether a table that is not in use is being loaded from a checkpoint
   * @throws IOException if the directory can not be emptied
   */
  CheckpointLender(
      Path directory,
      int partitions,
      IntFunction<@Nullable FoldedPartition> tables,
      IntPredicate isComing,
      MeterRegistry metrics)
      throws IOException {
    links = directory;
    this.partitions = partitions;
    this.tables = tables;
    this.isComing = isComing;
    this.metrics = metrics;
    Replacement.delete(directory);
  }

  /** Partitions of the log. */
  public int partitions() {
    return partitions;
  }

  /** What there is, by partition; those this process does not have are left out. */
  public List<CheckpointOffer> offers() {
    boolean busy = one.availablePermits() == 0;
    long began = System.nanoTime();
    return IntStream.range(0, partitions)
        .mapToObj(p -> offer(p, busy, FIRST_WITHIN.minusNanos(System.nanoTime() - began)))
        .filter(Objects::nonNull)
        .toList();
  }

  private @Nullable CheckpointOffer offer(int partition, boolean busy, Duration first) {
    FoldedPartition table = tables.apply(partition);
    if (table != null) {
      return table.offer(busy, first);
    }
    return isComing.test(partition) ? new CheckpointOffer(partition, 0, "", -1, 0, 0, true) : null;
  }

  /** A checkpoint that is being lent; to be closed. */
  public final class Loan implements AutoCloseable {

    private final Path directory;
    private final Header header;
    private final long beganNs = System.nanoTime();
    private String result = "aborted";
    private long sent;

    private Loan(Path directory, Header header) {
      this.directory = directory;
      this.header = header;
    }

    /**
     * Sends all of it; takes its time.
     *
     * @throws IOException if it was not read to its end, or too slowly
     */
    public void sendTo(OutputStream out) throws IOException {
      CheckpointStream.send(header, directory, out, this::sent);
      result = "whole";
    }

    private void sent(long bytes, long of) throws IOException {
      sent = bytes;
      long tookNs = System.nanoTime() - beganNs;
      if (tookNs > SLOW_START_NS + nanos(bytes, LEAST_BYTES_PER_SECOND)) {
        throw new IOException("less than 1 MiB/s is read");
      }
      long aheadNs = nanos(bytes, BYTES_PER_SECOND) - tookNs;
      if (aheadNs > 0) {
        LockSupport.parkNanos(aheadNs);
      }
    }

    private static long nanos(long bytes, long perSecond) {
      return (long) (1e9 * bytes / perSecond);
    }

    @Override
    public void close() {
      try {
        count(result);
        metrics.counter("kvindex.lent.bytes").increment(sent);
        LOG.info(
            "partition {} up to offset {} was lent ({}): {} bytes in {} ms",
            header.partition(),
            header.folded().offset(),
            result,
            sent,
            (System.nanoTime() - beganNs) / 1_000_000);
        remove(directory);
      } finally {
        one.release();
      }
    }
  }

  /**
   * Takes a checkpoint to be sent, a new one if there is something new and it can be written.
   *
   * @return null = another one is being lent
   * @throws DumpFailedException if there is none, saying why
   */
  public @Nullable Loan lend(int partition) throws DumpFailedException {
    if (!one.tryAcquire()) {
      count("busy");
      return null;
    }
    Path directory = links.resolve(Integer.toString(partition));
    boolean lent = false;
    try {
      FoldedPartition table = partition < partitions ? tables.apply(partition) : null;
      Files.createDirectories(links);
      Replacement.delete(directory); // what could not be deleted before
      Header header = table == null ? null : table.lend(directory, FRESH_WITHIN);
      if (header == null) {
        throw new DumpFailedException(
            "there is no checkpoint of partition " + partition + " here yet");
      }
      lent = true;
      return new Loan(directory, header);
    } catch (IOException e) {
      throw new DumpFailedException("partition " + partition + " can not be lent: " + e, e);
    } finally {
      if (!lent) {
        count("not_ready");
        remove(directory);
        one.release();
      }
    }
  }

  private void count(String result) {
    metrics.counter("kvindex.lent", "result", result).increment();
  }

  private static void remove(Path directory) {
    try {
      Replacement.delete(directory);
    } catch (IOException e) {
      LOG.warn("hard links of a checkpoint that was lent are left in {}", directory, e);
    }
  }
}
