// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.table.TableView;
import io.kvindex.streams.topology.IndexTopology;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import io.kvindex.streams.view.ReadViewQuery;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.StateQueryRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The views of this process's partitions. One that was complete goes on being served until its
 * successor is complete as well and knows no less: while rows are restored, and for as long as
 * Kafka is away, answers grow old but do not cease. Both are in memory for that time. Refreshed by
 * one thread, read by any.
 */
final class LocalViews {

  private static final Logger LOG = LoggerFactory.getLogger(LocalViews.class);

  /** The last offset of a changelog is its last transaction's marker, which is no row. */
  private static final long COMMIT_MARKER = 1;

  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Map<Integer, PartitionView> served = new ConcurrentHashMap<>();
  private final Map<Integer, PartitionView> newest = new ConcurrentHashMap<>();
  private final Map<Integer, Long> standbyGoals = new ConcurrentHashMap<>();
  private final Map<Integer, Long> goneSinceNanos = new ConcurrentHashMap<>();
  private final Set<Integer> heldBack = ConcurrentHashMap.newKeySet();

  /** What answers are made from, by partition. */
  Map<Integer, PartitionView> served() {
    return served;
  }

  /** The view of the task that is here now, or was here last; null = never was. */
  @Nullable PartitionView newest(int partition) {
    return newest.get(partition);
  }

  /** Whether this process owns a partition and tells of it. */
  boolean isLive(int partition) {
    PartitionView view = newest.get(partition);
    return view != null && view.state() == State.LIVE;
  }

  /**
   * Asks for the views of all tasks.
   *
   * @throws RuntimeException if they can not be asked for now; the views known so far stay
   */
  void refresh(KafkaStreams streams) {
    Map<Integer, QueryResult<PartitionView>> results =
        streams
            .query(StateQueryRequest.inStore(IndexTopology.STORE).withQuery(ReadViewQuery.LOOK))
            .getPartitionResults();
    results.forEach(
        (partition, result) -> {
          if (result.isSuccess()) {
            take(partition, result.getResult());
          }
        });
    markStandbys(streams);
  }

  /**
   * Gives the memory of partitions back that went elsewhere and have been there for a while: until
   * then what is known of them is better than nothing should their new holders fail. What went
   * before all of it was known is worth nothing, and goes at once.
   *
   * @param elsewhere whether a partition is others' alone
   */
  void forgetGone(IntPredicate elsewhere, long nowNanos) {
    for (Map.Entry<Integer, PartitionView> one : served.entrySet()) {
      int partition = one.getKey();
      if (one.getValue().state() != State.CLOSED || !elsewhere.test(partition)) {
        goneSinceNanos.remove(partition);
      } else if (!one.getValue().complete()
          || nowNanos - goneSinceNanos.computeIfAbsent(partition, p -> nowNanos) > KEPT_NANOS) {
        LOG.info("partition={} went elsewhere, its memory is given back", partition);
        served.remove(partition);
        newest.remove(partition);
        standbyGoals.remove(partition);
        goneSinceNanos.remove(partition);
        heldBack.remove(partition);
      }
    }
  }

  /** What is here of a partition may be wrong: nothing that is told from it is exact any more. */
  void distrust(int partition) {
    if (newest.get(partition) instanceof TableView table) {
      table.closed();
    }
  }

  /** Takes the view of the task that is here now. */
  void take(int partition, PartitionView view) {
    if (newest.put(partition, view) != view) {
      standbyGoals.remove(partition);
    }
    served.merge(partition, view, LocalViews::better);
    PartitionView serves = served.get(partition);
    if (serves == view || !view.complete()) {
      heldBack.remove(partition);
    } else if (heldBack.add(partition)) {
      LOG.info(
          "partition={} was restored up to offset {} only: what was known up to {} is answered from"
              + " until the log has been read so far again",
          partition,
          view.appliedOffset(),
          serves == null ? -1 : serves.appliedOffset());
    }
  }

  /**
   * A changelog may lack what was known: the end of a transaction that was given up, or, created
   * again empty, everything. What is not in it is read from the log again, and until then the
   * former view is the better one. Offsets go back in no other way while a process runs.
   */
  private static PartitionView better(PartitionView before, PartitionView now) {
    boolean whole = now.complete() && now.appliedOffset() >= before.appliedOffset();
    return whole || !before.complete() ? now : before;
  }

  /**
   * A standby is not told when it has read the changelog to its end: compare offsets until then.
   */
  private void markStandbys(KafkaStreams streams) {
    if (newest.values().stream().noneMatch(LocalViews::isCatchingUp)) {
      return;
    }
    streams
        .allLocalStorePartitionLags()
        .getOrDefault(IndexTopology.STORE, Map.of())
        .forEach(
            (partition, lagInfo) -> {
              // The end it had when first asked for: a log that grows on must not keep it waiting.
              long goal = standbyGoals.computeIfAbsent(partition, p -> lagInfo.endOffsetPosition());
              PartitionView view = newest.get(partition);
              LOG.debug(
                  "standby partition={} at={} goal={}",
                  partition,
                  lagInfo.currentOffsetPosition(),
                  goal);
              if (view instanceof TableView table
                  && lagInfo.currentOffsetPosition() + COMMIT_MARKER >= goal) {
                load(streams, partition);
                table.caughtUp();
              }
            });
  }

  private static boolean isCatchingUp(PartitionView view) {
    return view.state() == State.LOADING || view.state() == State.RESTORING;
  }

  /** Its rows are all there: an index not begun yet is built now. */
  private static void load(KafkaStreams streams, int partition) {
    streams.query(
        StateQueryRequest.inStore(IndexTopology.STORE)
            .withQuery(ReadViewQuery.LOAD)
            .withPartitions(Set.of(partition)));
  }
}
