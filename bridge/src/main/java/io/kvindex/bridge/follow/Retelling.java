// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.produce.SendSession;
import org.jspecify.annotations.Nullable;

/**
 * A life in which the same engine's cache is told once more from its beginning: the index knows
 * less of it than there is before all is told, and must be told so. Changed by the I/O thread, read
 * by any.
 */
final class Retelling {

  private final CurrentLife life;
  private volatile @Nullable Long until;

  /**
   * @param until last batch to be told again in the life that is followed from now on, null = none
   */
  Retelling(CurrentLife life, @Nullable Long until) {
    this.life = life;
    this.until = until;
  }

  /** The next life is another engine's: its cache is as empty as what is told of it. */
  void anotherEngine() {
    until = null;
  }

  /**
   * The next life is the same engine's, and tells once more what this one did.
   *
   * @param taken last batch that was taken of it, null = none
   */
  void again(@Nullable Long taken) {
    until = newest(taken, unfinished());
  }

  /** Last batch that is to be told again in the life followed or claimed, null = there is none. */
  @Nullable Long until() {
    return until;
  }

  /**
   * Whether an engine that has told all it keeps did not come so far: then it is another one.
   *
   * @param last the last batch taken of it, null = it keeps none, which says nothing
   */
  boolean isCutShortAt(@Nullable Long last) {
    Long end = until;
    return end != null && last != null && isBefore(last, end);
  }

  /** Last batch that is to be told again and that Kafka does not have yet, null = there is none. */
  @Nullable Long unfinished() {
    Long end = until;
    SendSession.Acked acked = life.session().acked();
    boolean told = end == null || acked != null && !isBefore(acked.sequence(), end);
    return told ? null : end;
  }

  /**
   * Whether all is told with a batch: the last one of those, or the first one beyond, if that was
   * lost. It may be sent more than once.
   *
   * @param after the batch before it in this life, null = there is none
   */
  boolean endsWith(long sequence, @Nullable Long after) {
    Long end = until;
    return end != null && !isBefore(sequence, end) && (after == null || isBefore(after, end));
  }

  /** The newer one of two batches. */
  static @Nullable Long newest(@Nullable Long a, @Nullable Long b) {
    return a == null || b != null && isBefore(a, b) ? b : a;
  }

  private static boolean isBefore(long a, long b) {
    return Long.compareUnsigned(a, b) < 0;
  }
}
