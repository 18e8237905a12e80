// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.Incarnation;
import io.kvindex.model.StreamId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.PublisherState;
import java.util.HashMap;
import java.util.Map;
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

  /** What records of that life carry: never its clears, which are but counted. */
  Incarnation incarnation() {
    return new Incarnation(progress.generation(), life, 0);
  }

  SendSession.@Nullable Acked acked() {
    Long last = progress.lastSequence();
    return last == null
        ? null
        : new SendSession.Acked(
            last,
            progress.lastTimeMicros(),
            progress.clears(),
            progress.log() == null ? 0 : progress.log().fingerprint());
  }

  /** Where in the events log to read on for what it says nothing of, -1 = not known. */
  long logNext() {
    return progress.log() == null ? -1 : progress.log().next();
  }

  /** Last numbers of streams other than the publisher's own. */
  Map<String, Long> ids() {
    Map<String, Long> ids = new HashMap<>();
    progress
        .lastIds()
        .forEach(
            (key, id) -> {
              String sub = StreamId.parse(key).sub();
              if (!sub.isEmpty()) {
                ids.put(sub, id);
              }
            });
    return ids;
  }

  boolean isDegraded() {
    return progress.state() == PublisherState.DEGRADED;
  }
}
