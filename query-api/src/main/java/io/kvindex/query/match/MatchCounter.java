// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.RunVisitor;
import java.util.Arrays;

/**
 * The conductor rule: an instance's prefix goes on while any of its media, or a pool that serves
 * it, holds the block; within it each medium and each rank counts the blocks it holds, with holes.
 * A block held twice in one medium (two ranks, or own and pool) counts once; what a pool holds
 * counts for its medium, not for a rank.
 *
 * <p>All numbers are blocks; multiply by the block size for tokens. Work is proportional to the
 * owners that change along the prompt, not to blocks times instances. Used by one thread at a time;
 * results stay until the next count. Allocates nothing once its arrays have grown.
 */
public final class MatchCounter implements RunVisitor {

  private InstanceSet instances = InstanceSet.EMPTY;
  private MatchPlan plan = InstanceSet.EMPTY.planFor(new PrefixIndex().owners());

  /** Position the instance's prefix ended at, or -1 while it goes on. */
  private int[] longest = new int[0];

  /** Own owners plus pool cells that hold the current block. */
  private int[] holders = new int[0];

  /**
   * Cells: holders now; and blocks counted, less the position it was opened at while it is open.
   */
  private int[] mediumHolders = new int[0];

  private int[] mediumBlocks = new int[0];
  private int[] rankHolders = new int[0];
  private int[] rankBlocks = new int[0];
  private int[] poolHolders = new int[0];

  /**
   * Owners at the last change, and those that can still matter: of prefixes that go on, of pools.
   */
  private long[] held = new long[0];

  private long[] relevant = new long[0];
  private int goingOn;

  /** A counter for one thread. */
  public MatchCounter() {}

  /** Begins a count for these instances: it has to follow the walk. */
  public MatchCounter over(InstanceSet listed) {
    instances = listed;
    return this;
  }

  @Override
  public void begin(OwnerView owners) {
    plan = instances.planFor(owners);
    int count = plan.instances();
    longest = cleared(longest, count);
    Arrays.fill(longest, 0, count, -1);
    holders = cleared(holders, count);
    mediumHolders = cleared(mediumHolders, count * plan.media());
    mediumBlocks = cleared(mediumBlocks, count * plan.media());
    rankHolders = cleared(rankHolders, plan.ranks().length);
    rankBlocks = cleared(rankBlocks, plan.ranks().length);
    poolHolders = cleared(poolHolders, plan.poolCells());
    held = filled(held, owners.words(), 0);
    relevant = filled(relevant, owners.words(), -1);
    goingOn = count;
  }

  /**
   * Owners that join come before owners that leave, so that a prefix handed from one to the other
   * at this very block goes on.
   */
  @Override
  public boolean change(int position, long[] ownerBits) {
    int words = plan.owners().words();
    for (int i = 0; i < words; i++) {
      for (long on = ownerBits[i] & ~held[i] & relevant[i]; on != 0; on &= on - 1) {
        open((i << 6) + Long.numberOfTrailingZeros(on), position);
      }
    }
    if (position == 0) {
      settleFirst();
    }
    for (int i = 0; i < words; i++) {
      for (long off = held[i] & ~ownerBits[i] & relevant[i]; off != 0; off &= off - 1) {
        close((i << 6) + Long.numberOfTrailingZeros(off), position);
      }
      held[i] = ownerBits[i];
    }
    return goingOn > 0;
  }

  @Override
  public void end(int position) {
    int media = plan.media();
    for (int instance = 0; instance < plan.instances(); instance++) {
      if (longest[instance] >= 0) {
        continue;
      }
      longest[instance] = position;
      for (int cell = instance * media; cell < (instance + 1) * media; cell++) {
        mediumBlocks[cell] += mediumHolders[cell] > 0 ? position : 0;
      }
      int lastRank = plan.rankStart()[instance + 1];
      for (int cell = plan.rankStart()[instance]; cell < lastRank; cell++) {
        rankBlocks[cell] += rankHolders[cell] > 0 ? position : 0;
      }
    }
  }

  /** Blocks of an instance's prefix. */
  public int longest(int instance) {
    return longest[instance];
  }

  /** How many media the answer knows: at least GPU, CPU, DISK in that order. */
  public int media() {
    return plan.media();
  }

  /** Answer key of a medium. */
  public String mediumKey(int medium) {
    return plan.mediumKeys().get(medium);
  }

  /** Blocks of an instance's prefix that one medium holds. */
  public int inMedium(int instance, int medium) {
    return mediumBlocks[instance * plan.media() + medium];
  }

  /** How many ranks of an instance are listed: registered ones and others seen. */
  public int ranks(int instance) {
    return plan.rankStart()[instance + 1] - plan.rankStart()[instance];
  }

  /** The {@code i}-th rank of an instance, ascending. */
  public int rank(int instance, int i) {
    return plan.ranks()[plan.rankStart()[instance] + i];
  }

  /** Blocks of an instance's prefix that its {@code i}-th rank holds on any medium of its own. */
  public int inRank(int instance, int i) {
    return rankBlocks[plan.rankStart()[instance] + i];
  }

  private void open(int slot, int position) {
    int instance = plan.instanceOf()[slot];
    if (instance >= 0) {
      holders[instance]++;
      int medium = plan.mediumCellOf()[slot];
      if (mediumHolders[medium]++ == 0) {
        mediumBlocks[medium] -= position;
      }
      int rank = plan.rankCellOf()[slot];
      if (rankHolders[rank]++ == 0) {
        rankBlocks[rank] -= position;
      }
    } else if (instance != MatchPlan.NOBODY) {
      int cell = MatchPlan.poolSlot(instance);
      if (poolHolders[cell]++ == 0) {
        openPool(cell, position);
      }
    }
  }

  private void openPool(int cell, int position) {
    for (int instance : plan.poolServes()[cell]) {
      if (longest[instance] < 0) {
        holders[instance]++;
        int medium = instance * plan.media() + plan.poolMedium()[cell];
        if (mediumHolders[medium]++ == 0) {
          mediumBlocks[medium] -= position;
        }
      }
    }
  }

  private void close(int slot, int position) {
    int instance = plan.instanceOf()[slot];
    if (instance >= 0) {
      closeMedium(plan.mediumCellOf()[slot], position);
      int rank = plan.rankCellOf()[slot];
      if (--rankHolders[rank] == 0) {
        rankBlocks[rank] += position;
      }
      dropHolder(instance, position);
    } else if (instance != MatchPlan.NOBODY) {
      int cell = MatchPlan.poolSlot(instance);
      if (--poolHolders[cell] == 0) {
        closePool(cell, position);
      }
    }
  }

  private void closePool(int cell, int position) {
    for (int instance : plan.poolServes()[cell]) {
      if (longest[instance] < 0) {
        closeMedium(instance * plan.media() + plan.poolMedium()[cell], position);
        dropHolder(instance, position);
      }
    }
  }

  private void closeMedium(int cell, int position) {
    if (--mediumHolders[cell] == 0) {
      mediumBlocks[cell] += position;
    }
  }

  /**
   * With its last holder gone all cells of the instance are closed too, so nothing is left to do.
   */
  private void dropHolder(int instance, int position) {
    if (--holders[instance] == 0) {
      longest[instance] = position;
      goingOn--;
      for (int i = plan.slotStart()[instance]; i < plan.slotStart()[instance + 1]; i++) {
        int slot = plan.slotsOf()[i];
        relevant[slot >>> 6] &= ~(1L << slot);
      }
    }
  }

  /** After the first block: whoever does not hold it has no prefix at all. */
  private void settleFirst() {
    for (int instance = 0; instance < plan.instances(); instance++) {
      if (holders[instance] == 0) {
        holders[instance] = 1;
        dropHolder(instance, 0);
      }
    }
  }

  private static int[] cleared(int[] array, int length) {
    if (array.length < length) {
      return new int[length + length / 4];
    }
    Arrays.fill(array, 0, length, 0);
    return array;
  }

  private static long[] filled(long[] array, int length, long value) {
    long[] result = array.length < length ? new long[length + 4] : array;
    Arrays.fill(result, 0, length, value);
    return result;
  }
}
