// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

/**
 * Which part of the log a table is the fold of.
 *
 * @param offset of the last record in it, -1 = none
 * @param sum that record's; says nothing while there is none
 * @param lineageStart offset of the first record that it, or the table it was borrowed from, was
 *     folded from without a gap
 */
public record Folded(long offset, long sum, long lineageStart) {

  /** None of it. */
  public static final Folded NOTHING = new Folded(-1, 0, 0);
}
