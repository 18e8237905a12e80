// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.zmq.RawBatch;

/**
 * Decides what a batch is whose sequence is not beyond the last one. Today's rule: a duplicate or a
 * late one, always. Telling a restarted engine from it (by fingerprints and times) belongs here and
 * nowhere else.
 */
final class LifeJudge {

  /** What such a batch can be. */
  enum Verdict {
    /** Seen before, or overtaken: to be dropped and counted. */
    DUPLICATE_OR_LATE
  }

  /** The verdict on {@code batch}, which came after {@code last}. */
  Verdict judge(RawBatch batch, long last) {
    return Verdict.DUPLICATE_OR_LATE;
  }
}
