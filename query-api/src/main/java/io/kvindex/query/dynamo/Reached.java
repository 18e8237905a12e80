// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.model.Media.Tier;
import io.kvindex.query.match.TierCounter;
import java.util.Arrays;

/**
 * How far each rank of each instance reaches through each tier, in blocks; ranks that reach nothing
 * are not in it. Of several walks the furthest counts. Reused; one thread at a time.
 */
final class Reached {
  private static final int TIERS = Tier.values().length;

  private long[] lanes = new long[16];
  private int[] ends = new int[16 * TIERS];
  private int size;

  /** What is being merged into; swapped with the above. */
  private long[] nextLanes = new long[16];

  private int[] nextEnds = new int[16 * TIERS];
  private int nextSize;

  void clear() {
    size = 0;
  }

  /** Takes in the counts of one walk. */
  void add(TierCounter counts) {
    nextSize = 0;
    int at = 0;
    for (int instance = 0; instance < counts.instances().size(); instance++) {
      for (int l = counts.firstLane(instance); l < counts.endLane(instance); l++) {
        if (counts.reached(l, Tier.EXTERNAL.ordinal()) > 0) {
          long lane = lane(instance, counts.rank(l));
          at = keepBefore(lane, at);
          boolean both = at < size && lanes[at] == lane;
          int to = append(lane);
          for (int tier = 0; tier < TIERS; tier++) {
            int before = both ? ends[at * TIERS + tier] : 0;
            nextEnds[to + tier] = Math.max(before, counts.reached(l, tier));
          }
          at += both ? 1 : 0;
        }
      }
    }
    keepBefore(Long.MAX_VALUE, at);
    swap();
  }

  /** Number of (instance, rank) that reach anything, in order of instance and rank. */
  int size() {
    return size;
  }

  /** Index of the instance among those the walk was over. */
  int instance(int at) {
    return (int) (lanes[at] >>> 32);
  }

  int rank(int at) {
    return (int) lanes[at];
  }

  /** Blocks reached through a tier and those above it; never less than through the one above. */
  int through(int at, Tier tier) {
    return ends[at * TIERS + tier.ordinal()];
  }

  /** One more than the last entry of the instance whose first one is {@code from}. */
  int endOfInstance(int from) {
    int end = from + 1;
    while (end < size && instance(end) == instance(from)) {
      end++;
    }
    return end;
  }

  private static long lane(int instance, int rank) {
    return (long) instance << 32 | rank;
  }

  private int keepBefore(long lane, int from) {
    int at = from;
    while (at < size && lanes[at] < lane) {
      int to = append(lanes[at]);
      System.arraycopy(ends, at * TIERS, nextEnds, to, TIERS);
      at++;
    }
    return at;
  }

  /** Where the new lane's numbers go. */
  private int append(long lane) {
    if (nextSize == nextLanes.length) {
      nextLanes = Arrays.copyOf(nextLanes, 2 * nextSize);
      nextEnds = Arrays.copyOf(nextEnds, 2 * nextSize * TIERS);
    }
    nextLanes[nextSize] = lane;
    return nextSize++ * TIERS;
  }

  private void swap() {
    long[] swapLanes = lanes;
    lanes = nextLanes;
    nextLanes = swapLanes;
    int[] swapEnds = ends;
    ends = nextEnds;
    nextEnds = swapEnds;
    size = nextSize;
  }
}
