// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.view.DumpVisitor.LeftOut;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.jspecify.annotations.Nullable;

/** An owner's residency rows as blocks: rows of several attention groups are one block. */
final class ResidentBlocks {

  private final RowScan scan;
  private final long groups;
  private @Nullable KeyValue<Bytes, byte[]> ahead;
  private long hash;
  private int space;
  private long lookupKey;
  private @Nullable LeftOut problem;

  /**
   * @param groups bit per group all of which a block needs, where there are several
   */
  ResidentBlocks(RowScan scan, long groups) {
    this.scan = scan;
    this.groups = Long.bitCount(groups) > 1 ? groups : 0;
    ahead = scan.next();
  }

  /** Goes to the next block; false at the end. */
  boolean next() {
    KeyValue<Bytes, byte[]> row = ahead;
    if (row == null) {
      return false;
    }
    hash = RowKeys.hash(row.key.get());
    problem = null;
    long seen = 0;
    BlockRow block = BlockRow.decode(row.value);
    space = block.space();
    lookupKey = block.lookupKey();
    while (row != null && RowKeys.hash(row.key.get()) == hash) {
      block = BlockRow.decode(row.value);
      if (!block.resolved()) {
        problem = LeftOut.ORPHAN;
      } else if (block.copies() > 0 && block.lookupKey() == lookupKey) {
        seen |= 1L << RowKeys.blockGroup(row.key.get());
      }
      row = scan.next();
    }
    ahead = row;
    if (problem == null && (seen == 0 || (groups & ~seen) != 0)) {
      problem = LeftOut.INCOMPLETE;
    }
    return true;
  }

  long hash() {
    return hash;
  }

  int space() {
    return space;
  }

  long lookupKey() {
    return lookupKey;
  }

  /** Why queries do not find it, null = they do. */
  @Nullable LeftOut problem() {
    return problem;
  }
}
