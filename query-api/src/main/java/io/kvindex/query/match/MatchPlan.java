// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.model.Media;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * What each owner slot counts for, as flat arrays. A <em>cell</em> is one number of the answer: of
 * a medium of an instance ({@code instance * media + medium}), or of a rank of an instance ({@code
 * rankStart[instance]}...).
 *
 * @param owners the owners this was made for
 * @param mediumKeys answer keys; GPU, CPU and DISK first, then others in alphabetical order
 * @param instanceOf per slot: index of the instance, {@link #NOBODY}, or {@link #poolSlot} of a
 *     pool cell
 * @param mediumCellOf per slot of an instance: its medium cell
 * @param rankCellOf per slot of an instance: its rank cell
 * @param slotStart per instance, one more at the end: where its slots begin in {@code slotsOf}
 * @param slotsOf slots of the instances, one after the other
 * @param rankStart per instance, one more at the end: where its rank cells begin
 * @param ranks per rank cell: the rank; ascending within an instance
 * @param poolMedium per pool cell: index of its medium
 * @param poolServes per pool cell: indexes of the instances it serves
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, and read in the hottest loop
record MatchPlan(
    OwnerView owners,
    List<String> mediumKeys,
    int[] instanceOf,
    int[] mediumCellOf,
    int[] rankCellOf,
    int[] slotStart,
    int[] slotsOf,
    int[] rankStart,
    int[] ranks,
    int[] poolMedium,
    int[][] poolServes) {

  /** An owner no listed instance profits from; {@link InstanceSet#indexOf} says so, too. */
  static final int NOBODY = -1;

  /** Works it out; done once per change of owners or registrations. */
  static MatchPlan of(InstanceSet instances, OwnerView owners) {
    return new Planner(instances, owners).plan();
  }

  int instances() {
    return slotStart.length - 1;
  }

  int media() {
    return mediumKeys.size();
  }

  int poolCells() {
    return poolMedium.length;
  }

  /** Marks a slot as one of a pool cell; its own inverse. */
  static int poolSlot(int cell) {
    return -2 - cell;
  }

  private static final class Planner {

    private record PoolCell(String pool, int medium) {}

    private final InstanceSet instances;
    private final OwnerView owners;
    private final List<String> mediumKeys;
    private final int[] instanceOf;
    private final int[] mediumCellOf;
    private final int[] rankCellOf;
    private final Map<PoolCell, Integer> poolCells = new LinkedHashMap<>();

    Planner(InstanceSet instances, OwnerView owners) {
      this.instances = instances;
      this.owners = owners;
      instanceOf = new int[owners.slots()];
      mediumCellOf = new int[owners.slots()];
      rankCellOf = new int[owners.slots()];
      mediumKeys = mediumKeys();
    }

    MatchPlan plan() {
      List<SortedSet<Integer>> rankSets = placeSlots();
      int[] slotStart = new int[instances.size() + 1];
      int[] slotsOf = groupSlots(slotStart);
      int[] rankStart = new int[instances.size() + 1];
      int[] ranks = rankSets.stream().flatMap(SortedSet::stream).mapToInt(rank -> rank).toArray();
      for (int i = 0; i < rankSets.size(); i++) {
        rankStart[i + 1] = rankStart[i] + rankSets.get(i).size();
      }
      for (int slot : slotsOf) {
        int instance = instanceOf[slot];
        int from = rankStart[instance];
        rankCellOf[slot] =
            Arrays.binarySearch(ranks, from, rankStart[instance + 1], rankCellOf[slot]);
      }
      return new MatchPlan(
          owners,
          mediumKeys,
          instanceOf,
          mediumCellOf,
          rankCellOf,
          slotStart,
          slotsOf,
          rankStart,
          ranks,
          poolCells.keySet().stream().mapToInt(PoolCell::medium).toArray(),
          poolCells.keySet().stream().map(cell -> served(cell.pool())).toArray(int[][]::new));
    }

    /** Places each slot; {@code rankCellOf} holds the rank itself until all ranks are known. */
    private List<SortedSet<Integer>> placeSlots() {
      List<SortedSet<Integer>> ranks = new ArrayList<>();
      instances.all().forEach(instance -> ranks.add(new TreeSet<>(instance.ranks())));
      for (int slot = 0; slot < owners.slots(); slot++) {
        Owner owner = owners.owner(slot);
        if (owner == null) {
          instanceOf[slot] = MatchPlan.NOBODY;
          continue;
        }
        int medium = mediumKeys.indexOf(instances.media().answerKey(owner.medium()));
        if (owner.pool()) {
          PoolCell cell = new PoolCell(owner.instanceId(), medium);
          poolCells.putIfAbsent(cell, poolCells.size());
          instanceOf[slot] = MatchPlan.poolSlot(poolCells.get(cell));
          continue;
        }
        int instance = instances.indexOf(owner.instanceId());
        instanceOf[slot] = instance;
        if (instance >= 0) {
          mediumCellOf[slot] = instance * mediumKeys.size() + medium;
          rankCellOf[slot] = owner.rank();
          ranks.get(instance).add(owner.rank());
        }
      }
      return ranks;
    }

    private int[] groupSlots(int[] slotStart) {
      for (int instance : instanceOf) {
        if (instance >= 0) {
          slotStart[instance + 1]++;
        }
      }
      Arrays.parallelPrefix(slotStart, Integer::sum);
      int[] next = slotStart.clone();
      int[] slotsOf = new int[slotStart[instances.size()]];
      for (int slot = 0; slot < instanceOf.length; slot++) {
        if (instanceOf[slot] >= 0) {
          slotsOf[next[instanceOf[slot]]++] = slot;
        }
      }
      return slotsOf;
    }

    private int[] served(String pool) {
      return IntStream.range(0, instances.size())
          .filter(i -> instances.get(i).servedBy(pool))
          .toArray();
    }

    private List<String> mediumKeys() {
      List<String> keys = new ArrayList<>(List.of(Media.GPU, Media.CPU, Media.DISK));
      SortedSet<String> others = new TreeSet<>();
      for (int slot = 0; slot < owners.slots(); slot++) {
        Owner owner = owners.owner(slot);
        if (owner != null && (owner.pool() || instances.indexOf(owner.instanceId()) >= 0)) {
          others.add(instances.media().answerKey(owner.medium()));
        }
      }
      keys.forEach(others::remove);
      keys.addAll(others);
      return List.copyOf(keys);
    }
  }
}
