// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;

/** A replica while it is being decided what it gets. For one thread. */
final class PlacedReplica {

  /** Behind by more than anybody who has something. */
  private static final long NOTHING = Long.MAX_VALUE;

  /** Rows it may lack so, as a multiple of those it may lack to be moved to. */
  private static final long NEAR = 5;

  private final ProcessId id;
  private final Optional<String> rack;
  private final Set<TaskId> ownedBefore;
  private final Set<TaskId> copiedBefore;
  private final Map<TaskId, Long> lags;
  private final long close;
  private final SortedSet<TaskId> owned = new TreeSet<>();
  private final SortedSet<TaskId> copied = new TreeSet<>();

  /**
   * @param lags rows it lacks of each task; empty = Kafka did not say
   * @param close who lacks no more has as good as all
   */
  PlacedReplica(
      ProcessId id,
      Optional<String> rack,
      Set<TaskId> ownedBefore,
      Set<TaskId> copiedBefore,
      Map<TaskId, Long> lags,
      long close) {
    this.id = id;
    this.rack = rack;
    this.ownedBefore = ownedBefore;
    this.copiedBefore = copiedBefore;
    this.lags = lags;
    this.close = close;
  }

  static PlacedReplica of(KafkaStreamsState state, AssignmentConfigs configs) {
    Map<TaskId, Long> lags;
    try {
      lags = state.statefulTasksToLagSums();
    } catch (UnsupportedOperationException e) { // they were not asked for
      lags = Map.of();
    }
    return new PlacedReplica(
        state.processId(),
        StayingAssignor.rack(state, configs),
        state.previousActiveTasks(),
        state.previousStandbyTasks(),
        lags,
        configs.acceptableRecoveryLag());
  }

  ProcessId id() {
    return id;
  }

  Optional<String> rack() {
    return rack;
  }

  /** What it owns from now on. */
  SortedSet<TaskId> owned() {
    return owned;
  }

  /** What it has copies of from now on. */
  SortedSet<TaskId> copied() {
    return copied;
  }

  boolean ownedBefore(TaskId task) {
    return ownedBefore.contains(task);
  }

  /** Rows it lacks, 0 = as good as none; an owner that runs lacks none. */
  long behind(TaskId task) {
    if (lags.isEmpty()) {
      return ownedBefore.contains(task) ? 0 : copiedBefore.contains(task) ? close : NOTHING;
    }
    long lag = lags.getOrDefault(task, NOTHING);
    return lag <= close ? 0 : lag;
  }

  /** Whether it would soon have all, if it were the owner; so is a copy that follows a busy one. */
  boolean isNear(TaskId task) {
    return behind(task) <= NEAR * close;
  }

  boolean isClose(TaskId task) {
    return behind(task) == 0;
  }

  /** What it has to do: copies are as much work as what is owned. */
  int work() {
    return owned.size() + copied.size();
  }

  @Override
  public String toString() {
    return id + ": owns=" + owned + " copies=" + copied;
  }
}
