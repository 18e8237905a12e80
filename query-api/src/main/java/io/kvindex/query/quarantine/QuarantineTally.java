// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import io.kvindex.model.Incarnation;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.query.registration.Registered;
import org.jspecify.annotations.Nullable;

/** What a publisher's present life has in quarantine, counted in one pass. One thread. */
final class QuarantineTally {

  private final Registered registered;
  private final @Nullable BridgeProgress heard;
  private final FrameReader reader;
  private long frames;
  private boolean readable;

  /**
   * @param heard newest progress of the publisher, null = none
   */
  QuarantineTally(Registered registered, @Nullable BridgeProgress heard, FrameReader reader) {
    this.registered = registered;
    this.heard = heard;
    this.reader = reader;
  }

  /** Whether a batch is of the life its publisher is in: only then anything is missing. */
  static boolean isCurrent(
      @Nullable Registered registered, @Nullable BridgeProgress heard, Incarnation of) {
    Long life = heard == null ? null : heard.life();
    return registered != null
        && life != null
        && registered.generation() == of.generation()
        && life == of.life();
  }

  /** Counts a frame; the decoders are tried until they read the first one. */
  void add(QuarantinedFrame frame) {
    if (isCurrent(registered, heard, frame.incarnation())) {
      frames++;
      readable =
          readable
              || frame.isKept()
                  && reader.problem(registered.registration(), frame.payload()) == null;
    }
  }

  Registered registered() {
    return registered;
  }

  /** Batches of its present life. */
  long frames() {
    return frames;
  }

  /** Whether one of them can be decoded now. */
  boolean readable() {
    return readable;
  }
}
