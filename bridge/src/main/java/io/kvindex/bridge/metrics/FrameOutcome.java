// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

/** What became of a frame. Every frame received ends in exactly one of them. */
public enum FrameOutcome implements Labelled {
  /** Decoded and handed to the producer. */
  APPLIED,
  /** Its sequence is not beyond the last one. */
  DUPLICATE_OR_LATE,
  /**
   * Beyond the last one, but the engine knows nothing of it: a life before this one sent it, or its
   * number was damaged on the way.
   */
  FORMER_LIFE,
  /** Of another engine that connects to the same bound endpoint: only its topic tells. */
  OTHER_TOPIC,
  /** Damaged on its way: not decodable, and of no use either, because its batch is known. */
  UNREADABLE,
  /** Not the frames of a batch: too few, or a sequence that is not 8 bytes. */
  MALFORMED,
  /** The batch could not be decoded; kept in the quarantine, its sequence counts. */
  QUARANTINED,
  /** Came too early in a replay, or opened another life: thrown away, to be asked for again. */
  ASKED_AGAIN,
  /** Waiting in memory when its follower stopped or nobody wanted the replay any more. */
  ABANDONED;

  /** Whether something is wrong with the frame or with who sends it here. */
  public boolean isFault() {
    return this == OTHER_TOPIC || this == UNREADABLE || this == MALFORMED;
  }
}
