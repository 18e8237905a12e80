// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.model.PublisherId;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/** How far a copy that is folded from the log is. For one thread. */
public final class ReplayProgress {

  private static final Set<String> BLOCK_OPERATIONS =
      Set.of("blocks_stored", "blocks_removed", "removed_unknown");

  private final ReplayPlan plan;
  private final IndexPartitions tables;
  private final MeterRegistry metrics;
  private long startNanos;
  private long endNanos;
  private long lastNanos;
  private double lastBlocks;
  private String rate = "";

  /**
   * @param tables the copy's
   * @param metrics the copy counts what it reads there
   */
  public ReplayProgress(ReplayPlan plan, IndexPartitions tables, MeterRegistry metrics) {
    this.plan = plan;
    this.tables = tables;
    this.metrics = metrics;
  }

  /**
   * Records that are in the tables, those of checkpoints too, and those that are not there to be
   * read any more.
   */
  public long records() {
    long done = 0;
    for (LogPart part : plan.parts()) {
      done += Math.max(0, Math.min(part.end(), readUpTo(part)) - plan.start(part));
    }
    if (startNanos == 0 && taken() > 0) {
      // From the first record on: joining the group takes some seconds and no work.
      startNanos = System.nanoTime();
      lastNanos = startNanos;
    }
    return done;
  }

  /** A table that has all there is may end before the log: retention took the rest. */
  private long readUpTo(LogPart part) {
    if (tables.keepsUp(part.partition())) {
      return part.end();
    }
    PartitionView view = tables.view(part.partition());
    return view == null ? 0 : view.appliedOffset() + 1;
  }

  private double taken() {
    Counter taken = metrics.find("kvindex.records.taken").counter();
    return taken == null ? 0 : taken.count();
  }

  /** Records that were deleted from the log after the plan was made and before they were read. */
  public long missing() {
    Counter missing = metrics.find("kvindex.log.records.missing").counter();
    return missing == null ? 0 : (long) missing.count();
  }

  /** Records that could not be read, by the counter the copy has for them. */
  public long unreadable() {
    Counter unreadable = metrics.find("kvindex.records").tag("outcome", "undecodable").counter();
    return unreadable == null ? 0 : (long) unreadable.count();
  }

  /** Whether all is read that the topic had when the plan was made. */
  public boolean isDone() {
    return records() >= plan.records();
  }

  /** The rate of the last second or so, in words. */
  public String rate() {
    long now = System.nanoTime();
    double seconds = (now - lastNanos) / 1e9;
    if (startNanos != 0 && seconds >= 1) {
      double blocks = blocks();
      rate =
          String.format(Locale.ROOT, "%,.0f block operations/s", (blocks - lastBlocks) / seconds);
      lastNanos = now;
      lastBlocks = blocks;
    }
    return rate;
  }

  /** It is done now. */
  public void end() {
    endNanos = System.nanoTime();
  }

  /** The rates over all of it, from the first record to {@link #end}. */
  public String summary() {
    double seconds = startNanos == 0 ? 0 : (endNanos - startNanos) / 1e9;
    double per = Math.max(seconds, 1.0 / TimeUnit.SECONDS.toMillis(1));
    return String.format(
        Locale.ROOT,
        "%,.0f records with %,.0f block operations in %.1f s: %,.0f records/s, %,.0f block operations/s",
        taken(),
        blocks(),
        seconds,
        taken() / per,
        blocks() / per);
  }

  private double blocks() {
    return metrics.find("kvindex.block.changes").counters().stream()
        .filter(one -> BLOCK_OPERATIONS.contains(one.getId().getTag("outcome")))
        .mapToDouble(Counter::count)
        .sum();
  }

  /** Publishers of which something is missing. */
  public Set<PublisherId> degraded() {
    Set<PublisherId> all = new TreeSet<>();
    for (LogPart part : plan.parts()) {
      PartitionView view = tables.view(part.partition());
      if (view != null) {
        all.addAll(view.degradedPublishers());
      }
    }
    return all;
  }
}
