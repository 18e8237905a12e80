// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

import java.util.List;

/**
 * What a partition holds at one position of the log.
 *
 * @param since offset of the first record it was folded from without a gap; what was announced
 *     before is not in it
 * @param appliedOffset highest offset of the events topic that is applied, by the streams' rows; -1
 *     = none
 * @param streams streams it knows
 * @param held records that wait for their predecessor
 * @param positions sum of the hashes of all streams' positions and gaps
 * @param owners live owners with their blocks, in no order
 */
public record PartitionDigest(
    long since,
    long appliedOffset,
    int streams,
    int held,
    long positions,
    List<OwnerDigest> owners) {

  public PartitionDigest {
    owners = List.copyOf(owners);
  }
}
