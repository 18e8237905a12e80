// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.jspecify.annotations.Nullable;

/** Replicas that follow one plan after another. */
abstract class PlanFixture {

  static final long CLOSE = 1_000;
  static final long ALL_ROWS = 500_000;

  /** What Kafka Streams says of an owner that runs. */
  static final long RUNS = -2;

  int copies = 1;
  boolean awaiting;
  List<TaskId> tasks = tasks(6);

  /** A replica between two rebalances. */
  static final class Site {
    final ProcessId id;
    final Optional<String> rack;
    Set<TaskId> owned = Set.of();
    Set<TaskId> copied = Set.of();
    final Map<TaskId, Long> lags = new HashMap<>();

    Site(int number, @Nullable String rack) {
      id = new ProcessId(new UUID(0, number));
      this.rack = Optional.ofNullable(rack);
    }

    PlacedReplica replica(List<TaskId> tasks) {
      Map<TaskId, Long> known = new HashMap<>();
      tasks.forEach(task -> known.put(task, lags.getOrDefault(task, ALL_ROWS)));
      return new PlacedReplica(id, rack, owned, copied, known, CLOSE);
    }

    void take(PlacedReplica placed) {
      lags.keySet().retainAll(placed.copied());
      placed.owned().forEach(task -> lags.put(task, RUNS));
      placed.copied().forEach(task -> lags.replace(task, RUNS, 0L));
      owned = Set.copyOf(placed.owned());
      copied = Set.copyOf(placed.copied());
    }

    /** All its copies are restored. */
    void catchUp() {
      copied.forEach(task -> lags.put(task, CLOSE));
    }
  }

  static List<TaskId> tasks(int count) {
    return IntStream.range(0, count).mapToObj(partition -> new TaskId(0, partition)).toList();
  }

  /** Makes a plan and follows it; whether it was settled. */
  boolean rebalance(List<Site> sites) {
    Map<ProcessId, PlacedReplica> placed = new TreeMap<>();
    sites.forEach(site -> placed.put(site.id, site.replica(tasks)));
    PartitionPlan plan =
        new PartitionPlan(
            List.copyOf(placed.values()),
            tasks,
            new AssignmentConfigs(CLOSE, 2, copies, 60_000L, List.of("rack")),
            awaiting);
    plan.make();
    sites.forEach(site -> site.take(Objects.requireNonNull(placed.get(site.id))));
    assertWhole(sites);
    return plan.isSettled();
  }

  private void assertWhole(List<Site> sites) {
    for (TaskId task : tasks) {
      long owners = sites.stream().filter(site -> site.owned.contains(task)).count();
      long holders = sites.stream().filter(site -> site.copied.contains(task)).count();
      long both =
          sites.stream()
              .filter(site -> site.owned.contains(task) && site.copied.contains(task))
              .count();
      assertThat(owners).as("owners of %s", task).isEqualTo(1);
      assertThat(holders)
          .as("copies of %s", task)
          .isGreaterThanOrEqualTo(awaiting ? 0 : Math.min(copies, sites.size() - 1));
      assertThat(both).isZero();
    }
  }

  static List<Site> sites(int count) {
    return new ArrayList<>(IntStream.range(0, count).mapToObj(i -> new Site(i, null)).toList());
  }

  /** Three that have settled: two partitions and two copies each. */
  List<Site> settled() {
    List<Site> sites = sites(3);
    rebalance(sites);
    sites.forEach(Site::catchUp);
    assertThat(rebalance(sites)).isTrue();
    return sites;
  }
}
