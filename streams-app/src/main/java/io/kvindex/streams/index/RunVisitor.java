// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

/** Follows a walk; called on the walking thread, in the order of the methods below. */
public interface RunVisitor {

  /**
   * The walk starts.
   *
   * @param owners what the bits of this walk mean
   */
  default void begin(OwnerView owners) {}

  /**
   * From this block on another set of live owners holds the prompt.
   *
   * @param position the block, counted from 0
   * @param ownerBits bit per slot, {@link OwnerView#words()} longs, more may follow and mean
   *     nothing; only valid during the call and not to be written to. The set is not empty.
   * @return false to end the walk here
   */
  boolean change(int position, long[] ownerBits);

  /**
   * The walk is over.
   *
   * @param position number of blocks walked: the first block without live owner, the one the
   *     visitor declined, or the length of the prompt
   */
  void end(int position);
}
