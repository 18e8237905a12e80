// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One decoded payload.
 *
 * @param timestampMicros time the engine stamped on it, microseconds since the epoch
 * @param rank data-parallel rank it states, null = none
 * @param events what could be read, in the engine's order
 * @param skipped what could not; {@code events.size() + skipped.size()} is the number sent
 */
public record EngineBatch(
    long timestampMicros, @Nullable Integer rank, List<EngineEvent> events, List<Skipped> skipped)
    implements DecodeResult {

  public EngineBatch {
    events = List.copyOf(events);
    skipped = List.copyOf(skipped);
  }

  /**
   * An event left out.
   *
   * @param index its place in the batch as sent, from 0
   * @param reason why
   * @param doubtful whether it may have taken blocks away, which then seem to be there still
   */
  public record Skipped(int index, SkipReason reason, boolean doubtful) {}

  /** Whether what could not be read may have taken blocks away. */
  public boolean isDoubtful() {
    return skipped.stream().anyMatch(Skipped::doubtful);
  }
}
