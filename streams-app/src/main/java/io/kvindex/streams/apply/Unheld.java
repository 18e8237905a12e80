// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

/** Told when no live owner holds a block any more. */
@FunctionalInterface
public interface Unheld {
  /**
   * @param meant whether what the hash means is surely still known: it may have been forgotten
   *     while only dead or incomplete holders had the block
   */
  void block(int space, long engineHash, long lookupKey, boolean meant);
}
