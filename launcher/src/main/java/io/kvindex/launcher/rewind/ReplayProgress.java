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

/** How far a rebuild is. For one thread. */
public final class ReplayProgress {

  private static final Set<String> BLOCK_OPERATIONS =
      Set.of("blocks_stored", "blocks_removed", "removed_unknown");

  private final ReplayPlan plan;
  private final IndexPartitions tables;
  private final ReadUpTo readUpTo;
  private final MeterRegistry metrics;
  private long startNanos;
  private long endNanos;
  private long lastNanos;
  private double lastBlocks;
  private String rate = "";

  /**
   * @param group the rebuild's
   * @param log what it reads
   * @param metrics the rebuild counts its block operations there
   */
  public ReplayProgress(
      ReplayPlan plan,
      IndexPartitions tables,
      ReplayGroup group,
      EventLog log,
      MeterRegistry metrics) {
    this(plan, tables, ReadUpTo.of(group, log, plan.parts().size()), metrics);
  }

  ReplayProgress(
      ReplayPlan plan, IndexPartitions tables, ReadUpTo readUpTo, MeterRegistry metrics) {
    this.plan = plan;
    this.tables = tables;
    this.readUpTo = readUpTo;
    this.metrics = metrics;
  }

  /** Records read, and those that are not there to be read any more. */
  public long records() throws InterruptedException {
    long done = 0;
    for (LogPart part : plan.parts()) {
      PartitionView view = tables.view(part.partition());
      long taken = view == null ? 0 : view.takenOffset() + 1;
      long read = Math.max(taken, readUpTo.first(part.partition()));
      done += Math.max(0, Math.min(part.end(), read) - plan.start(part));
    }
    if (done > 0 && startNanos == 0) {
      // From the first record on: joining the group takes some seconds and no work.
      startNanos = System.nanoTime();
      lastNanos = startNanos;
    }
    return done;
  }

  /** Records that were deleted from the log after the plan was made and before they were read. */
  public long missing() {
    Counter missing = metrics.find("kvindex.log.records.missing").counter();
    return missing == null ? 0 : (long) missing.count();
  }

  /** Records that could not be read, by the counter the rebuild has for them. */
  public long unreadable() {
    Counter unreadable = metrics.find("kvindex.records").tag("outcome", "undecodable").counter();
    return unreadable == null ? 0 : (long) unreadable.count();
  }

  /** Whether all is read that the topic had when the plan was made. */
  public boolean isDone() throws InterruptedException {
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
        "%,d records with %,.0f block operations in %.1f s: %,.0f records/s, %,.0f block operations/s",
        plan.records(),
        blocks(),
        seconds,
        plan.records() / per,
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
