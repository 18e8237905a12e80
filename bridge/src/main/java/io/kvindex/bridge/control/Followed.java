// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.follow.Following;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.registration.Generations.Placed;
import io.kvindex.model.registration.Registration;
import org.jspecify.annotations.Nullable;

/** A publisher this bridge has been assigned. Control thread only, except the volatile fields. */
final class Followed {

  final int partition;
  final long generation;

  /** That of its newest registration record. */
  long offset;

  Registration registration;
  boolean gone;

  /** Whether it had another life before, which the next one has to fence. */
  boolean opens;

  /** Last batch of the life before that the next one has to tell once more, null = none. */
  @Nullable Long retells;

  /** Highest life another bridge claimed before this one's first was. */
  long contested = -1;

  /** Null until its life is claimed. */
  volatile @Nullable Following following;

  volatile boolean writing;

  private @Nullable BridgeProgress written;
  private int foreign;

  Followed(int partition, long offset, long generation, Registration registration) {
    this.partition = partition;
    this.offset = offset;
    this.generation = generation;
    this.registration = registration;
  }

  /** Whether its connection is not any more what its progress said last. */
  boolean hasConnectionNews() {
    Following now = following;
    return now != null && now.hasConnectionNews();
  }

  /** Its newest registration record. */
  Placed placed() {
    return new Placed(offset, generation);
  }

  /** Number of records other bridges are known to have written about it. */
  synchronized int foreign() {
    return foreign;
  }

  /** Another bridge wrote about it: what Kafka has is not what was written here. */
  synchronized void contradicted() {
    foreign++;
    written = null;
  }

  /**
   * Kafka has that progress.
   *
   * @param foreignBefore {@link #foreign()} when it was sent; more since then may lie behind it
   */
  synchronized void written(BridgeProgress progress, int foreignBefore) {
    if (foreign == foreignBefore) {
      written = progress;
    }
  }

  /** Whether that is the last word Kafka has about it. */
  synchronized boolean isWritten(BridgeProgress progress) {
    return progress.equals(written);
  }
}
