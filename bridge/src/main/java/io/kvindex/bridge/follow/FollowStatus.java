// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.RejectReason;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.metrics.EventLabel;
import io.kvindex.bridge.metrics.FaultLog;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.metrics.GapResult;
import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.PublisherState;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What others may see of a follower: state, newest problem, counters. The loop's thread writes, any
 * thread reads.
 */
final class FollowStatus {

  /** Every event a decodable batch held: used, by kind, or skipped, by reason. */
  private static final String EVENTS = "events";

  private final PublisherId publisher;
  private final BridgeMetrics metrics;
  private final FaultLog faults;
  private final CurrentLife life;
  private final Map<String, LongAdder> counters = new ConcurrentHashMap<>();
  private volatile PublisherState phase = PublisherState.PENDING;
  private volatile boolean lossy;
  private volatile boolean unreadable;
  private volatile boolean mismatched;
  private volatile boolean ambiguous;
  private volatile boolean failed;
  private Connection connection = now(false);

  /** Counts connections. */
  private int connections;

  /** The last batch taken when the connection was proven, null = none had been. */
  private @Nullable Long provenAt;

  private volatile @Nullable String lastError;

  /**
   * @param life says whether something is told once more
   * @param degraded whether events are known to be missing from before
   */
  FollowStatus(PublisherId publisher, Followers site, CurrentLife life, boolean degraded) {
    this.publisher = publisher;
    this.metrics = site.metrics;
    this.faults = site.faults;
    this.life = life;
    this.lossy = degraded;
  }

  /** The state, worst news first; missing events stay missing while a replay runs. */
  PublisherState state() {
    if (failed) {
      return PublisherState.FAILED;
    }
    if (mismatched || ambiguous) {
      return PublisherState.MISMATCHED;
    }
    if (lossy || unreadable) {
      return PublisherState.DEGRADED;
    }
    return life.retells() != null ? PublisherState.REPLAYING : phase;
  }

  void phase(PublisherState next) {
    phase = next;
    failed = false;
  }

  void failed(String problem) {
    failed = true;
    lastError = problem;
  }

  /** Batches of this life are missing. */
  void lossy(String problem) {
    lossy = true;
    lastError = problem;
  }

  /** A batch of this life was of no use, and reading it again would change nothing. */
  void unreadable(String problem) {
    unreadable = true;
    lastError = problem;
  }

  /** Whether a complete replay from the life's beginning would have everything. */
  boolean isRepairable() {
    return lossy && !unreadable;
  }

  /** What was wrong with the life before is no news any more. */
  void newLife() {
    cleared();
    mismatched = false;
    lastError = null;
    unproven();
  }

  /** Nothing it announced before counts any more, so nothing of it is missing either. */
  void cleared() {
    lossy = false;
    unreadable = false;
  }

  void mismatched(boolean is, @Nullable String problem) {
    mismatched = is;
    if (problem != null) {
      lastError = problem;
    }
  }

  /** Events of more than one source seem to come, null = they do not. */
  void ambiguous(@Nullable String problem) {
    ambiguous = problem != null;
    if (problem != null) {
      lastError = problem;
    }
  }

  void problem(String problem) {
    lastError = problem;
  }

  /** There is a further connection, or none any more; any thread. */
  synchronized void connected(boolean is) {
    if (is != connection.up()) {
      connection = now(is);
    }
    if (is) {
      connections++;
      unproven();
    }
  }

  private synchronized void unproven() {
    connection = new Connection(connection.up(), connection.sinceMicros(), false);
  }

  /** Connections there were so far; any thread. */
  synchronized int connections() {
    return connections;
  }

  /**
   * Who is connected is the engine followed.
   *
   * @param number the connection that was looked at; does nothing if that is not the newest one
   * @param last the last batch taken, null = none
   */
  synchronized void proven(int number, @Nullable Long last) {
    if (number == connections && connection.up() && !connection.proven()) {
      connection = new Connection(true, connection.sinceMicros(), true);
      provenAt = last;
    }
  }

  synchronized boolean isConnected() {
    return connection.up();
  }

  /**
   * The connection as far as it counts; any thread.
   *
   * @param acked the last batch that Kafka has, null = none
   */
  synchronized Connection connection(@Nullable Long acked) {
    boolean has = provenAt == null || acked != null && Long.compareUnsigned(acked, provenAt) >= 0;
    return new Connection(connection.up(), connection.sinceMicros(), connection.proven() && has);
  }

  private static Connection now(boolean up) {
    return new Connection(up, TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()), false);
  }

  @Nullable String lastError() {
    return lastError;
  }

  void received(boolean fromReplay, long count) {
    metrics.received(fromReplay, count);
    count(fromReplay ? "frames_replayed" : "frames_live", count);
  }

  void outcome(FrameOutcome outcome, long count) {
    metrics.outcome(outcome, count);
    count(outcome.label(), count);
    if (outcome.isFault()) {
      faults.tell(publisher, outcome, "frame dropped");
    }
  }

  void quarantined(RejectReason reason, long sequence) {
    metrics.rejected(reason.label());
    outcome(FrameOutcome.QUARANTINED, 1);
    String problem =
        "batch " + Long.toUnsignedString(sequence) + " is in quarantine: " + reason.label();
    unreadable(problem);
    faults.tell(publisher, reason, problem);
  }

  /** Messages of a replay that nobody takes. */
  void discarded(FrameOutcome outcome, long count) {
    received(true, count);
    outcome(outcome, count);
  }

  /** A batch was handed to the producer. */
  void batch(Map<EventLabel, Long> kinds) {
    metrics.batch(kinds);
    count("batches", 1);
    kinds.forEach(
        (kind, number) -> {
          if (kind.isPublishers()) {
            count(EVENTS + "_" + kind.label(), number);
            count(EVENTS, number);
          }
        });
  }

  void skipped(SkipReason reason, long count, long sequence) {
    metrics.skipped(reason.label(), count);
    count(EVENTS, count);
    count("skipped_" + reason.label(), count);
    if (reason.isFault()) {
      faults.tell(
          publisher,
          reason,
          "events skipped=" + count + " of batch " + Long.toUnsignedString(sequence));
    }
  }

  void remarked(String remark, long count) {
    metrics.remarked(remark, count);
    count("remarked_" + remark, count);
  }

  void gaps(GapResult result) {
    metrics.gap(result);
    count("gaps_" + result.label(), 1);
  }

  void lost(long batches) {
    metrics.lost(batches);
    count("batches_lost", batches);
  }

  /** Everything announced before was thrown away, as something of it is lost. */
  void reset() {
    cleared();
    metrics.reset();
    count("gap_resets", 1);
  }

  void count(String name, long count) {
    if (count > 0) {
      counters.computeIfAbsent(name, key -> new LongAdder()).add(count);
    }
  }

  /**
   * All of them by name.
   *
   * @param waiting batches in memory now, of which nothing can be said yet
   */
  Map<String, Long> counters(int waiting) {
    Map<String, Long> sums = new TreeMap<>();
    sums.put("frames_waiting", (long) waiting);
    counters.forEach((name, sum) -> sums.put(name, sum.sum()));
    return sums;
  }
}
