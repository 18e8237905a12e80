// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

import java.util.Locale;

/** What became of a frame. Every frame received ends in exactly one of them. */
public enum FrameOutcome {
  /** Decoded and handed to the producer. */
  APPLIED,
  /** Its sequence is not beyond the last one. */
  DUPLICATE_OR_LATE,
  /** Not the frames of a batch: too few, or a sequence that is not 8 bytes. */
  MALFORMED,
  /** The batch could not be decoded; kept in the quarantine, its sequence counts. */
  QUARANTINED,
  /** Read behind a hole of a replay and thrown away, to be asked for again. */
  ASKED_AGAIN,
  /** Waiting in memory when its follower stopped or had to go back. */
  ABANDONED;

  /** Name in metrics and progress records. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
