// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.RawBatch;
import org.jspecify.annotations.Nullable;

/** What is not known for sure about the engine behind a publisher. For its loop's thread only. */
final class Doubts {

  private static final int MOST_STRANGERS = 16;

  /** As many may have been on their way from the engine before when its successor was heard. */
  private static final int MOST_STRANGERS_IN_ALL = 1_024;

  /** No delayed or doubled batches come in such a row while not one is new. */
  private static final int LATE_ROW = 64;

  /** Nor so many that are others than were taken under their numbers. */
  private static final int OTHER_ROW = 4;

  private boolean unproven;
  private boolean tailChecked;
  private int strangers;

  /** Since a live batch was taken. */
  private int strangersInAll;

  private int late;
  private int others;
  private @Nullable RawBatch other;
  private long takenMicros;

  /** The newest batch of this life that the engine's replay had, null = none yet. */
  private @Nullable Long vouched;

  /**
   * @param known the last batch of the first life that is known of, null = none
   */
  Doubts(@Nullable Long known) {
    vouched = known;
  }

  /** A connection is new: who is at its other end has to be shown where there was one before. */
  void connected(boolean knownBefore) {
    unproven = knownBefore;
    tailChecked = false;
  }

  /** Whoever it is, another life is followed, of which nothing is known. */
  void newLife() {
    unproven = false;
    tailChecked = false;
    late = 0;
    others = 0;
    vouched = null;
  }

  /** Whether the engine has yet to show that it is still the one that sent the last batch. */
  boolean isUnproven() {
    return unproven;
  }

  /** Something came that the engine followed may not have sent. */
  void raise() {
    unproven = true;
  }

  /** Its replay has what was taken of it before. */
  void sameEngine() {
    unproven = false;
  }

  /** The engine's replay has that batch of this life. */
  void vouchedFor(RawBatch batch) {
    if (vouched == null || Long.compareUnsigned(batch.sequence(), vouched) > 0) {
      vouched = batch.sequence();
    }
  }

  /**
   * The newest batch of this life that the replay had, null = none: what came live since then may
   * be another engine's that was not asked about.
   */
  @Nullable Long vouched() {
    return vouched;
  }

  /** A live batch was taken as its next one. */
  void taken(RawBatch batch) {
    unproven = false;
    strangers = 0;
    strangersInAll = 0;
    noteTaken(batch);
  }

  /** A batch of a replay was taken as its next one. */
  void tookReplayed(RawBatch batch) {
    vouchedFor(batch);
    strangers = 0; // whoever tells what is new can say as well what is not its own
    noteTaken(batch);
  }

  private void noteTaken(RawBatch batch) {
    late = 0;
    others = 0;
    takenMicros = batch.receivedMicros();
  }

  /**
   * A live batch came that is older than the last one taken. One damaged number or time, taken for
   * real, would make all that come after it such ones: whether so many came in a row that it has to
   * be asked who is right. Those that had been received before the last one was taken do not count.
   */
  boolean isLateAgain(RawBatch batch) {
    if (batch.receivedMicros() > takenMicros) {
      late++;
    }
    return late >= LATE_ROW;
  }

  /**
   * A live batch came that is another one than was taken under its number. It may come late, from
   * the engine before this one: whether so many came in a row that they must be this one's. One
   * that is looked at again counts once.
   */
  boolean isOtherAgain(RawBatch batch) {
    if (batch.receivedMicros() > takenMicros && batch != other) {
      other = batch;
      others++;
    }
    return others >= OTHER_ROW;
  }

  /**
   * Whether a batch of which the replay knows nothing may still be taken for a former life's: an
   * endpoint that never has anything can not testify for long, or its engine would never be
   * followed.
   */
  boolean allowStranger() {
    return ++strangersInAll <= MOST_STRANGERS_IN_ALL && ++strangers <= MOST_STRANGERS;
  }

  /**
   * Whether what was sent just before the subscription took effect has yet to be asked for; once.
   */
  boolean takeTailCheck() {
    boolean due = !tailChecked;
    tailChecked = true;
    return due;
  }
}
