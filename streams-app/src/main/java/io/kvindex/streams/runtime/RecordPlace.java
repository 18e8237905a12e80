// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

/**
 * Where the record that was read stands, seen from the last one a table has folded. Reading begins
 * at that one, so that its sum tells whether the log still is the one the table was folded from.
 */
enum RecordPlace {
  /** The last one folded, once more. */
  REREAD_EQUAL(true),

  /** The one behind it. */
  NEXT(true),

  /** One further behind: those between are gone, by retention. */
  BEYOND_NEXT(false),

  /** One from before: the log ends, or ended, before the last one folded. */
  LOWER(false),

  /** Another one in the place of the last one folded. */
  OTHER_SUM(false);

  private final boolean usual;

  RecordPlace(boolean usual) {
    this.usual = usual;
  }

  /**
   * Judges a record.
   *
   * @param foldedOffset of the last record folded, -1 = none
   * @param foldedSum that one's {@link RecordSum}
   */
  static RecordPlace of(long offset, long sum, long foldedOffset, long foldedSum) {
    if (offset > foldedOffset) {
      return offset == foldedOffset + 1 ? NEXT : BEYOND_NEXT;
    }
    if (offset < foldedOffset) {
      return LOWER;
    }
    return sum == foldedSum ? REREAD_EQUAL : OTHER_SUM;
  }

  /** Whether it needs no explanation. */
  boolean isUsual() {
    return usual;
  }
}
