// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

/** Told when no live owner holds a block any more. */
@FunctionalInterface
public interface Unheld {
  void block(int space, long engineHash, long lookupKey);
}
