// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.follow.Following;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.registration.Registration;
import org.jspecify.annotations.Nullable;

/** A publisher this bridge has been assigned. Control thread only, except the volatile fields. */
final class Followed {

  final int partition;
  final long generation;
  Registration registration;
  boolean gone;

  /** Whether it had another life before, which the next one has to fence. */
  boolean opens;

  long retryAtNs;

  /** Null until its life is claimed. */
  volatile @Nullable Following following;

  /** What Kafka has about it, null = unknown. */
  volatile @Nullable BridgeProgress written;

  volatile boolean writing;

  Followed(int partition, long generation, Registration registration) {
    this.partition = partition;
    this.generation = generation;
    this.registration = registration;
  }
}
