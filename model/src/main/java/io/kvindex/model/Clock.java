// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Wall clock in the unit engines stamp their batches with. For figures, never for decisions. */
public final class Clock {

  private Clock() {}

  /** Microseconds since the epoch. */
  public static long micros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }
}
