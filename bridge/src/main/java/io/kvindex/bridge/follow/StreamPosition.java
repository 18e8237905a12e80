// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.model.chaos.Protection;
import org.jspecify.annotations.Nullable;

/** Where a stream is: the last sequence handed to the producer. Sequences are unsigned. */
final class StreamPosition {

  /** Where a batch lies. */
  enum Place {
    /** Right behind the last one. */
    NEXT,
    /** Beyond the next one: something is missing. */
    BEYOND,
    /** Not beyond the last one. */
    BEHIND
  }

  private final boolean mayCountFromOne;
  private boolean countsFromOne;
  private @Nullable Long last;

  /**
   * @param mayCountFromOne whether a first number of 1 is as good as 0, as Mooncake's master has it
   */
  StreamPosition(@Nullable Long last, boolean mayCountFromOne) {
    this.last = last;
    this.mayCountFromOne = mayCountFromOne;
    this.countsFromOne = mayCountFromOne;
  }

  /** Another life begins. */
  void begin() {
    last = null;
    countsFromOne = mayCountFromOne;
  }

  /** Numbers of this life begin with 1. */
  void numbersFromOne() {
    countsFromOne = true;
  }

  /** The last sequence, null = none yet in this life. */
  @Nullable Long last() {
    return last;
  }

  /** The sequence that has to come next; engines count from 0. */
  long expected() {
    return last == null ? 0 : last + 1;
  }

  /** Whether numbers begin with that one. */
  boolean isFirst(long sequence) {
    return sequence == 0 || countsFromOne && sequence == 1;
  }

  Place place(long sequence) {
    if (last == null && isFirst(sequence)) {
      return Place.NEXT;
    }
    int order = Long.compareUnsigned(sequence, expected());
    if (order > 0) {
      return Protection.REPAIR.isOff() ? Place.NEXT : Place.BEYOND;
    }
    return order == 0 ? Place.NEXT : Place.BEHIND;
  }

  void moveTo(@Nullable Long sequence) {
    last = sequence;
  }
}
