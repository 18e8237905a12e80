// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PartitionPlanTest {

  private static final long CLOSE = 1_000;
  private static final long ALL_ROWS = 500_000;

  /** What Kafka Streams says of an owner that runs. */
  private static final long RUNS = -2;

  private int copies = 1;
  private boolean awaiting;
  private List<TaskId> tasks = tasks(6);

  /** A replica between two rebalances. */
  private static final class Site {
    private final ProcessId id;
    private final Optional<String> rack;
    private Set<TaskId> owned = Set.of();
    private Set<TaskId> copied = Set.of();
    private final Map<TaskId, Long> lags = new HashMap<>();

    private Site(int number, @Nullable String rack) {
      id = new ProcessId(new UUID(0, number));
      this.rack = Optional.ofNullable(rack);
    }

    private PlacedReplica replica(List<TaskId> tasks) {
      Map<TaskId, Long> known = new HashMap<>();
      tasks.forEach(task -> known.put(task, lags.getOrDefault(task, ALL_ROWS)));
      return new PlacedReplica(id, rack, owned, copied, known, CLOSE);
    }

    private void take(PlacedReplica placed) {
      lags.keySet().retainAll(placed.copied());
      placed.owned().forEach(task -> lags.put(task, RUNS));
      placed.copied().forEach(task -> lags.replace(task, RUNS, 0L));
      owned = Set.copyOf(placed.owned());
      copied = Set.copyOf(placed.copied());
    }

    /** All its copies are restored. */
    private void catchUp() {
      copied.forEach(task -> lags.put(task, CLOSE));
    }
  }

  private static List<TaskId> tasks(int count) {
    return IntStream.range(0, count).mapToObj(partition -> new TaskId(0, partition)).toList();
  }

  /** Makes a plan and follows it; whether it was settled. */
  private boolean rebalance(List<Site> sites) {
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

  private static List<Site> sites(int count) {
    return new ArrayList<>(IntStream.range(0, count).mapToObj(i -> new Site(i, null)).toList());
  }

  /** Three that have settled: two partitions and two copies each. */
  private List<Site> settled() {
    List<Site> sites = sites(3);
    rebalance(sites);
    sites.forEach(Site::catchUp);
    assertThat(rebalance(sites)).isTrue();
    return sites;
  }

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

  /** Replicas come, go, lose their rows and catch up at random. */
  @Test
  void shouldSettleAgain_andLeaveOwnersAlone_whateverHappens() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      copies = random.nextInt(3);
      tasks = tasks(1 + random.nextInt(24));
      List<Site> sites = sites(1 + random.nextInt(5));
      int made = sites.size();
      for (int step = 0; step < 20; step++) {
        if (sites.size() > 1 && random.nextInt(3) == 0) {
          sites.remove(random.nextInt(sites.size()));
        } else if (random.nextInt(3) == 0) {
          sites.add(new Site(made++, null));
        }
        if (random.nextBoolean()) {
          sites.get(random.nextInt(sites.size())).catchUp();
        }
        Map<TaskId, Set<Site>> close = close(sites);
        rebalance(sites);
        assertOwnersAreClose(close, sites);
      }
      assertSettles(seed, sites);
    }
  }

  private Map<TaskId, Set<Site>> close(List<Site> sites) {
    Map<TaskId, Set<Site>> close = new HashMap<>();
    for (TaskId task : tasks) {
      Set<Site> some = new HashSet<>(sites);
      some.removeIf(site -> site.lags.getOrDefault(task, ALL_ROWS) > 5 * CLOSE);
      close.put(task, some);
    }
    return close;
  }

  private static void assertOwnersAreClose(Map<TaskId, Set<Site>> close, List<Site> sites) {
    close.forEach(
        (task, before) ->
            assertThat(sites)
                .as("owner of %s", task)
                .anyMatch(
                    site ->
                        site.owned.contains(task) && (before.isEmpty() || before.contains(site))));
  }

  private void assertSettles(int seed, List<Site> sites) {
    for (int look = 0; look < 30; look++) {
      sites.forEach(Site::catchUp);
      if (rebalance(sites)) {
        int most = sites.stream().mapToInt(site -> site.owned.size()).max().orElseThrow();
        int least = sites.stream().mapToInt(site -> site.owned.size()).min().orElseThrow();
        assertThat(most - least).isLessThanOrEqualTo(1);
        return;
      }
    }
    throw new AssertionError("seed " + seed + " does not settle");
  }
}
