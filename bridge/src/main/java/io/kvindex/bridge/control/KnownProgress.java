// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.Incarnation;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.PublisherState;
import org.jspecify.annotations.Nullable;

/**
 * The newest progress record of a publisher.
 *
 * @param progress its value
 * @param life the life it speaks of: the one it names, or its own offset where it claims one
 */
record KnownProgress(BridgeProgress progress, long life) {

  static KnownProgress of(BridgeProgress progress, long offset) {
    Long named = progress.life();
    return new KnownProgress(progress, named == null ? offset : named);
  }

  /** Whether it speaks of a later life of the same registration than another record. */
  boolean isNewerLifeThan(KnownProgress other) {
    return progress.generation() == other.progress.generation() && life > other.life;
  }

  Incarnation incarnation() {
    return new Incarnation(progress.generation(), life, progress.clears());
  }

  SendSession.@Nullable Acked acked() {
    Long last = progress.lastSequence();
    return last == null ? null : new SendSession.Acked(last, progress.lastTimeMicros());
  }

  boolean isDegraded() {
    return progress.state() == PublisherState.DEGRADED;
  }
}
