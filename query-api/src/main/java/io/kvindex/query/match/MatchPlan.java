// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.streams.index.OwnerView;
import java.util.List;

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

  /** An owner no listed instance profits from. */
  static final int NOBODY = -1;

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
}
