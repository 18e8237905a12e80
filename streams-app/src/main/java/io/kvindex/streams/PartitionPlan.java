// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.jspecify.annotations.Nullable;

/** One decision of {@link StayingAssignor}. For one thread. */
final class PartitionPlan {

  private final List<PlacedReplica> replicas;
  private final List<TaskId> tasks;
  private final int copies;
  private final int warmups;
  private final boolean awaiting;
  private boolean settled;

  /**
   * @param replicas that have nothing yet, in an order that stays the same
   * @param awaiting whether somebody left who may soon be back: only what lost its owner moves, and
   *     no copy is made of which nobody has most
   */
  PartitionPlan(
      List<PlacedReplica> replicas,
      List<TaskId> tasks,
      AssignmentConfigs configs,
      boolean awaiting) {
    this.replicas = replicas;
    this.tasks = tasks;
    copies = Math.min(configs.numStandbyReplicas(), Math.max(0, replicas.size() - 1));
    warmups = configs.maxWarmupReplicas();
    this.awaiting = awaiting;
    settled = !awaiting;
  }

  /** Gives everything to somebody, if there is anybody. */
  void make() {
    if (replicas.isEmpty()) {
      return;
    }
    List<TaskId> orphans = new ArrayList<>();
    for (TaskId task : tasks) {
      PlacedReplica owner = formerOwner(task);
      if (owner == null) {
        orphans.add(task);
      } else {
        owner.owned().add(task);
      }
    }
    orphans.forEach(task -> heir(task).owned().add(task));
    while (!awaiting && moveOne()) {
      // until nobody has two more than another one that could have one of them
    }
    settled &= most().owned().size() - least().owned().size() <= 1;
    tasks.forEach(this::copy);
    if (!awaiting) {
      warmUp();
    }
  }

  /** Whether all is spread evenly and every copy is close; else it is worth another look. */
  boolean isSettled() {
    return settled;
  }

  /** One whose rows had to be thrown away is none any more where somebody else has them. */
  private @Nullable PlacedReplica formerOwner(TaskId task) {
    return replicas.stream()
        .filter(replica -> replica.ownedBefore(task) && replica.isClose(task))
        .findFirst()
        .orElse(null);
  }

  /**
   * Of those that soon have all whoever owns least: what was just taken from its owner for balance
   * has none for a moment, and would go back to him.
   */
  private PlacedReplica heir(TaskId task) {
    return replicas.stream()
        .min(
            Comparator.<PlacedReplica>comparingLong(
                    replica -> replica.isNear(task) ? 0 : replica.behind(task))
                .thenComparing(replica -> !replica.ownedBefore(task))
                .thenComparingInt(replica -> replica.owned().size()))
        .orElseThrow();
  }

  private PlacedReplica most() {
    return byOwned().get(replicas.size() - 1);
  }

  private PlacedReplica least() {
    return byOwned().get(0);
  }

  private List<PlacedReplica> byOwned() {
    return replicas.stream()
        .sorted(Comparator.comparingInt(replica -> replica.owned().size()))
        .toList();
  }

  private boolean moveOne() {
    for (PlacedReplica to : byOwned()) {
      for (PlacedReplica from : byOwned()) {
        if (from.owned().size() - to.owned().size() > 1) {
          for (TaskId task : from.owned()) {
            if (to.isClose(task)) {
              from.owned().remove(task);
              to.owned().add(task);
              return true;
            }
          }
        }
      }
    }
    return false;
  }

  /** Where no copy lets partitions be spread evenly, some are made that will. */
  private void warmUp() {
    PlacedReplica from = most();
    PlacedReplica to = least();
    int tooMany = (from.owned().size() - to.owned().size()) / 2;
    long underWay = from.owned().stream().filter(to.copied()::contains).count();
    List<TaskId> more =
        from.owned().stream()
            .filter(task -> !to.copied().contains(task))
            .limit(Math.max(0, Math.min(warmups, tooMany) - underWay))
            .toList();
    to.copied().addAll(more);
  }

  /** A copy that is whole stays until the one that is to replace it is whole too. */
  private void copy(TaskId task) {
    List<PlacedReplica> holders = new ArrayList<>();
    replicas.stream().filter(replica -> replica.owned().contains(task)).forEach(holders::add);
    boolean whole = copies == 0;
    for (int i = 0; i < copies; i++) {
      PlacedReplica next = next(task, holders);
      if (next == null) {
        return;
      }
      holders.add(next);
      next.copied().add(task);
      whole |= next.isNear(task);
      settled &= next.isNear(task);
    }
    if (!whole) {
      replicas.stream()
          .filter(replica -> !holders.contains(replica) && replica.isNear(task))
          .findFirst()
          .ifPresent(replica -> replica.copied().add(task));
    }
  }

  /** Who comes back gets what it has most rows of, and reads the fewest. */
  private @Nullable PlacedReplica next(TaskId task, List<PlacedReplica> holders) {
    int fair = (tasks.size() * (1 + copies) + replicas.size() - 1) / replicas.size();
    return replicas.stream()
        .filter(replica -> !holders.contains(replica))
        .filter(replica -> !awaiting || replica.isNear(task))
        .min(
            Comparator.<PlacedReplica, Boolean>comparing(replica -> sharesRack(replica, holders))
                .thenComparing(replica -> replica.work() >= fair)
                .thenComparingLong(replica -> replica.behind(task))
                .thenComparingInt(PlacedReplica::work))
        .orElse(null);
  }

  private static boolean sharesRack(PlacedReplica replica, List<PlacedReplica> holders) {
    return replica.rack().isPresent()
        && holders.stream().anyMatch(holder -> holder.rack().equals(replica.rack()));
  }
}
