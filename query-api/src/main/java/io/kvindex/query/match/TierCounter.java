// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.RunVisitor;
import java.util.Arrays;

/**
 * The rule of Dynamo and of today's C++ Conductor: each rank has one cursor that goes down the
 * tiers (device, host, disk, external) and never up again; a tier's number is the block the cursor
 * left it at, so the numbers grow from tier to tier. Ranks are never stitched together.
 *
 * <p>All numbers are blocks; multiply by the block size for tokens. Used by one thread at a time;
 * results stay until the next count. Allocates nothing once its arrays have grown.
 */
public final class TierCounter implements RunVisitor {
  private static final int TIERS = TierPlan.TIERS;

  private InstanceSet instances = InstanceSet.EMPTY;
  private TierPlan plan = InstanceSet.EMPTY.tiersFor(new PrefixIndex().owners());

  /** Per lane: the tier its cursor is in, {@link #TIERS} when it has left the last one. */
  private int[] tier = new int[0];

  /** Per lane and tier: where the cursor left it. */
  private int[] ends = new int[0];

  private int goingOn;

  /** A counter for one thread. */
  public TierCounter() {}

  /** Begins a count for these instances: it has to follow the walk. */
  public TierCounter over(InstanceSet listed) {
    instances = listed;
    return this;
  }

  @Override
  public void begin(OwnerView owners) {
    plan = instances.tiersFor(owners);
    int lanes = plan.lanes();
    if (tier.length < lanes) {
      tier = new int[lanes + lanes / 4];
      ends = new int[tier.length * TIERS];
    }
    Arrays.fill(tier, 0, lanes, 0);
    Arrays.fill(ends, 0, lanes * TIERS, 0);
    goingOn = lanes;
  }

  @Override
  public boolean change(int position, long[] ownerBits) {
    for (int lane = 0; lane < plan.lanes(); lane++) {
      advance(lane, position, ownerBits);
    }
    return goingOn > 0;
  }

  private void advance(int lane, int position, long[] ownerBits) {
    int at = tier[lane];
    if (at == TIERS) {
      return;
    }
    while (at < TIERS && !meets(plan.masks()[lane * TIERS + at], ownerBits)) {
      ends[lane * TIERS + at++] = position;
    }
    tier[lane] = at;
    if (at == TIERS) {
      goingOn--;
    }
  }

  @Override
  public void end(int position) {
    for (int lane = 0; lane < plan.lanes(); lane++) {
      for (int at = tier[lane]; at < TIERS; at++) {
        ends[lane * TIERS + at] = position;
      }
    }
  }

  /** The instances of the last count; indexes below are its. */
  public InstanceSet instances() {
    return instances;
  }

  /** The first lane of an instance: a lane is one of its ranks, registered or seen. */
  public int firstLane(int instance) {
    return plan.laneStart()[instance];
  }

  /** One more than the last lane of an instance. */
  public int endLane(int instance) {
    return plan.laneStart()[instance + 1];
  }

  /** A lane's rank; ascending within an instance. */
  public int rank(int lane) {
    return plan.ranks()[lane];
  }

  /**
   * Blocks from the prompt's start that a lane reaches through a tier and those above it.
   *
   * @param tier {@link io.kvindex.model.Media.Tier#ordinal}
   */
  public int reached(int lane, int tier) {
    return ends[lane * TIERS + tier];
  }

  /** The furthest of an instance's lanes. */
  public int furthest(int instance, int tier) {
    int most = 0;
    for (int lane = firstLane(instance); lane < endLane(instance); lane++) {
      most = Math.max(most, reached(lane, tier));
    }
    return most;
  }

  private static boolean meets(long[] mask, long[] bits) {
    for (int i = 0; i < mask.length; i++) {
      if ((mask[i] & bits[i]) != 0) {
        return true;
      }
    }
    return false;
  }
}
