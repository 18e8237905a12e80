// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.model.Media;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Which owners carry each rank of each instance through each tier. A <em>lane</em> is one rank of
 * one instance; its device tier is what that rank's own owners hold on a device, its lower tiers
 * are what they hold there and what the pools hold that serve the instance.
 *
 * @param owners the owners this was made for
 * @param laneStart per instance, one more at the end: where its lanes begin
 * @param ranks per lane: the rank; ascending within an instance
 * @param masks per lane and tier ({@code lane * TIERS + tier}): a bit per owner slot
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, and read in a hot loop
record TierPlan(OwnerView owners, int[] laneStart, int[] ranks, long[][] masks) {

  static final int TIERS = Media.Tier.values().length;

  int lanes() {
    return ranks.length;
  }

  static TierPlan of(InstanceSet instances, OwnerView owners) {
    List<SortedMap<Integer, long[][]>> lanes = new ArrayList<>();
    for (int i = 0; i < instances.size(); i++) {
      SortedMap<Integer, long[][]> own = new TreeMap<>();
      instances.get(i).ranks().forEach(rank -> own.put(rank, noOwners(owners)));
      lanes.add(own);
    }
    for (int slot = 0; slot < owners.slots(); slot++) {
      Owner owner = owners.owner(slot);
      int instance = owner == null || owner.pool() ? -1 : instances.indexOf(owner.instanceId());
      if (owner != null && instance >= 0) {
        long[][] lane = lanes.get(instance).computeIfAbsent(owner.rank(), rank -> noOwners(owners));
        set(lane[instances.media().tier(owner.medium()).ordinal()], slot);
      }
    }
    for (int slot = 0; slot < owners.slots(); slot++) {
      Owner owner = owners.owner(slot);
      if (owner != null && owner.pool()) {
        addPool(instances, lanes, owner, slot);
      }
    }
    return flat(owners, lanes);
  }

  /** A pool's device copies, if it says so, are nobody's own: they are no tier of a lane. */
  private static void addPool(
      InstanceSet instances, List<SortedMap<Integer, long[][]>> lanes, Owner pool, int slot) {
    Media.Tier tier = instances.media().tier(pool.medium());
    for (int i = 0; i < lanes.size() && tier != Media.Tier.DEVICE; i++) {
      if (instances.get(i).servedBy(pool.instanceId())) {
        lanes.get(i).values().forEach(lane -> set(lane[tier.ordinal()], slot));
      }
    }
  }

  private static TierPlan flat(OwnerView owners, List<SortedMap<Integer, long[][]>> lanes) {
    int[] laneStart = new int[lanes.size() + 1];
    List<long[]> masks = new ArrayList<>();
    List<Integer> ranks = new ArrayList<>();
    for (int i = 0; i < lanes.size(); i++) {
      lanes
          .get(i)
          .forEach(
              (rank, tiers) -> {
                ranks.add(rank);
                masks.addAll(List.of(tiers));
              });
      laneStart[i + 1] = ranks.size();
    }
    return new TierPlan(
        owners,
        laneStart,
        ranks.stream().mapToInt(rank -> rank).toArray(),
        masks.toArray(long[][]::new));
  }

  private static long[][] noOwners(OwnerView owners) {
    return new long[TIERS][owners.words()];
  }

  private static void set(long[] mask, int slot) {
    mask[slot >>> 6] |= 1L << slot;
  }
}
