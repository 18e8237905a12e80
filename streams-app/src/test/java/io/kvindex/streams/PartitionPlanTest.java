// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.junit.jupiter.api.Test;

class PartitionPlanTest extends PlanFixture {

  @Test
  void shouldSpreadThemEvenly_whenNobodyHasAnything() {
    for (Site site : settled()) {
      assertThat(site.owned).hasSize(2);
      assertThat(site.copied).hasSize(2);
    }
  }

  @Test
  void shouldMoveOnlyWhatHasLostItsOwner_whenOneDies() {
    List<Site> sites = settled();
    Site dead = sites.remove(1);
    Set<TaskId> first = sites.get(0).owned;
    Set<TaskId> firstCopies = sites.get(0).copied;
    Set<TaskId> second = sites.get(1).owned;
    rebalance(sites);
    assertThat(sites.get(0).owned).containsAll(first);
    assertThat(sites.get(1).owned).containsAll(second);
    for (TaskId task : dead.owned) {
      assertThat(sites.get(0).owned.contains(task))
          .as("%s is where it had its copy", task)
          .isEqualTo(firstCopies.contains(task));
    }
  }

  @Test
  void shouldMakeNoCopies_whileWhoLeftIsAwaited() {
    List<Site> sites = settled();
    Site dead = sites.remove(1);
    Map<Site, Set<TaskId>> copied = new HashMap<>();
    sites.forEach(site -> copied.put(site, site.copied));
    Map<Site, Set<TaskId>> owned = new HashMap<>();
    sites.forEach(site -> owned.put(site, site.owned));

    awaiting = true;
    assertThat(rebalance(sites)).as("worth another look").isFalse();
    for (Site site : sites) {
      Set<TaskId> taken = new HashSet<>(site.owned);
      taken.removeAll(Objects.requireNonNull(owned.get(site)));
      assertThat(dead.owned).as("only those move").containsAll(taken);
      assertThat(copied.get(site)).as("no new ones").containsAll(site.copied);
    }
    assertThat(sites.stream().mapToInt(site -> site.copied.size()).sum())
        .as("those of which both owner and copy live")
        .isEqualTo(6 - dead.owned.size() - dead.copied.size());

    awaiting = false;
    rebalance(sites);
    assertThat(sites.stream().mapToInt(site -> site.copied.size()).sum()).isEqualTo(6);
  }

  @Test
  void shouldKeepACopyThatIsClose_whileWhoLeftIsAwaited() {
    List<Site> sites = settled();
    Site dead = sites.remove(1);
    TaskId task = dead.owned.iterator().next();
    sites.forEach(site -> site.lags.putIfAbsent(task, 2 * CLOSE));
    awaiting = true;
    rebalance(sites);
    assertThat(sites).filteredOn(site -> site.owned.contains(task)).hasSize(1);
    assertThat(sites).filteredOn(site -> site.copied.contains(task)).hasSize(1);
  }

  @Test
  void shouldGiveCopiesFirst_whenOneComesBack() {
    List<Site> sites = settled();
    Site back = sites.remove(1);
    rebalance(sites);
    sites.forEach(Site::catchUp);
    rebalance(sites);
    back.owned = Set.of();
    back.copied = Set.of();
    back.lags.clear();
    List<Set<TaskId>> before = sites.stream().map(site -> site.owned).toList();
    sites.add(back);

    assertThat(rebalance(sites)).as("worth another look").isFalse();

    assertThat(sites.get(0).owned).isEqualTo(before.get(0));
    assertThat(sites.get(1).owned).isEqualTo(before.get(1));
    assertThat(back.owned).isEmpty();
    assertThat(back.copied).hasSize(4);
    for (TaskId task : back.copied) {
      assertThat(sites.subList(0, 2))
          .as("the whole copy of %s stays until then", task)
          .anyMatch(site -> site.copied.contains(task));
    }

    back.catchUp();
    rebalance(sites);
    sites.forEach(Site::catchUp);
    assertThat(rebalance(sites)).isTrue();
    assertThat(sites).allSatisfy(site -> assertThat(site.owned).hasSize(2));
    assertThat(sites).allSatisfy(site -> assertThat(site.copied).hasSize(2));
  }

  @Test
  void shouldGiveItCopiesOfWhatItHasRowsOf_whenOneComesBack() {
    List<Site> sites = settled();
    Site back = sites.remove(1);
    Set<TaskId> had = new HashSet<>(back.owned);
    had.addAll(back.copied);
    awaiting = true;
    rebalance(sites);
    awaiting = false;
    back.owned = Set.of();
    back.copied = had;
    had.forEach(task -> back.lags.put(task, 30 * CLOSE));
    sites.add(back);
    rebalance(sites);
    assertThat(back.copied).isEqualTo(had);
  }

  @Test
  void shouldChangeNothing_whenNothingHasChanged() {
    List<Site> sites = settled();
    List<Set<TaskId>> owned = sites.stream().map(site -> site.owned).toList();
    List<Set<TaskId>> copied = sites.stream().map(site -> site.copied).toList();
    assertThat(rebalance(sites)).isTrue();
    assertThat(sites.stream().map(site -> site.owned).toList()).isEqualTo(owned);
    assertThat(sites.stream().map(site -> site.copied).toList()).isEqualTo(copied);
  }

  @Test
  void shouldMoveAPartition_whenItsOwnerHasLostTheRows() {
    List<Site> sites = settled();
    Site owner = sites.get(0);
    TaskId task = owner.owned.iterator().next();
    Site copy = sites.stream().filter(site -> site.copied.contains(task)).findFirst().orElseThrow();
    owner.lags.put(task, ALL_ROWS);
    rebalance(sites);
    assertThat(copy.owned).contains(task);
  }

  /** Kafka Streams takes a partition from its owner first, and asks again then. */
  @Test
  void shouldNotGiveAPartitionBack_whenItIsOnItsWay() {
    List<Site> sites = sites(2);
    rebalance(List.of(sites.get(0)));
    rebalance(sites);
    sites.get(1).catchUp();
    sites.get(0).owned = Set.copyOf(tasks.subList(0, 3));
    sites.get(0).copied = Set.copyOf(tasks.subList(3, 6));
    sites.get(0).catchUp();
    tasks.subList(3, 6).forEach(task -> sites.get(1).lags.put(task, 2 * CLOSE));
    rebalance(sites);
    assertThat(sites.get(1).owned)
        .as("it was to get them")
        .isEqualTo(Set.copyOf(tasks.subList(3, 6)));
  }

  @Test
  void shouldLeaveAPartition_whenItsOwnerHasLostTheRowsAndNobodyHasThem() {
    List<Site> sites = sites(1);
    rebalance(sites);
    tasks.forEach(task -> sites.get(0).lags.put(task, ALL_ROWS));
    rebalance(sites);
    assertThat(sites.get(0).owned).hasSize(6);
  }

  @Test
  void shouldMakeCopiesForBalance_whereThereAreNone() {
    copies = 0;
    List<Site> sites = sites(1);
    rebalance(sites);
    sites.add(new Site(1, null));
    assertThat(rebalance(sites)).isFalse();
    assertThat(sites.get(0).owned).as("all there is, until copies are close").hasSize(6);
    assertThat(sites.get(1).copied).hasSize(2);
    sites.get(1).catchUp();
    rebalance(sites);
    assertThat(sites.get(1).owned).hasSize(2);
    sites.get(1).catchUp();
    assertThat(rebalance(sites)).isTrue();
    assertThat(sites).allSatisfy(site -> assertThat(site.owned).hasSize(3));
    assertThat(sites).allSatisfy(site -> assertThat(site.copied).isEmpty());
  }

  @Test
  void shouldPutCopiesInOtherRacks() {
    List<Site> sites =
        List.of(new Site(0, "a"), new Site(1, "a"), new Site(2, "b"), new Site(3, "b"));
    rebalance(sites);
    for (TaskId task : tasks) {
      Set<Optional<String>> racks = new HashSet<>();
      sites.stream()
          .filter(site -> site.owned.contains(task) || site.copied.contains(task))
          .forEach(site -> racks.add(site.rack));
      assertThat(racks).as("racks of %s", task).hasSize(2);
    }
  }

  @Test
  void shouldGiveEverythingToEverybody_whereThatIsWanted() {
    copies = 1_000;
    List<Site> sites = sites(4);
    rebalance(sites);
    assertThat(sites)
        .allSatisfy(site -> assertThat(site.copied.size() + site.owned.size()).isEqualTo(6));
  }

  @Test
  void shouldKeepOwners_whenKafkaDoesNotSayHowFarTheyAre() {
    TaskId task = new TaskId(0, 0);
    PlacedReplica copy =
        new PlacedReplica(
            new ProcessId(new UUID(0, 1)),
            Optional.empty(),
            Set.of(),
            Set.of(task),
            Map.of(),
            CLOSE);
    PlacedReplica owner =
        new PlacedReplica(
            new ProcessId(new UUID(0, 2)),
            Optional.empty(),
            Set.of(task),
            Set.of(),
            Map.of(),
            CLOSE);
    PlacedReplica other =
        new PlacedReplica(
            new ProcessId(new UUID(0, 0)), Optional.empty(), Set.of(), Set.of(), Map.of(), CLOSE);
    AssignmentConfigs configs = new AssignmentConfigs(CLOSE, 2, 1, 60_000L, List.of());
    new PartitionPlan(List.of(other, copy, owner), List.of(task), configs, false).make();
    assertThat(owner.owned()).containsExactly(task);

    new PartitionPlan(List.of(other, copy), List.of(task), configs, false).make();
    assertThat(copy.owned()).as("better than one that never had it").containsExactly(task);
  }
}
