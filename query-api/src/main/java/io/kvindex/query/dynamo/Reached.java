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

  void clear() {
    size = 0;
  }

  /** Takes in the counts of one walk. */
  void add(TierCounter counts) {
    for (int instance = 0; instance < counts.instances().size(); instance++) {
      for (int l = counts.firstLane(instance); l < counts.endLane(instance); l++) {
        if (counts.reached(l, Tier.EXTERNAL.ordinal()) > 0) {
          int to = place((long) instance << 32 | counts.rank(l)) * TIERS;
          for (int tier = 0; tier < TIERS; tier++) {
            ends[to + tier] = Math.max(ends[to + tier], counts.reached(l, tier));
          }
        }
      }
    }
  }

  /** Where a lane's numbers are, 0 where it is new; those of the first walk come in order. */
  private int place(long lane) {
    boolean last = size == 0 || lanes[size - 1] < lane;
    int found = last ? -1 - size : Arrays.binarySearch(lanes, 0, size, lane);
    if (found >= 0) {
      return found;
    }
    int at = -1 - found;
    if (size == lanes.length) {
      lanes = Arrays.copyOf(lanes, 2 * size);
      ends = Arrays.copyOf(ends, 2 * size * TIERS);
    }
    System.arraycopy(lanes, at, lanes, at + 1, size - at);
    System.arraycopy(ends, at * TIERS, ends, (at + 1) * TIERS, (size - at) * TIERS);
    lanes[at] = lane;
    Arrays.fill(ends, at * TIERS, (at + 1) * TIERS, 0);
    size++;
    return at;
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
}
