// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.model.event.KvEvent;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A batch ready to be written. Every event of the engine is in it or counted: {@code events.size()}
 * plus all counts of {@code skipped} is the number sent.
 *
 * @param timestampMicros time the engine stamped on it, microseconds since the epoch
 * @param events what happened, in the engine's order
 * @param skipped events left out, by reason; of the decoder and of this step
 * @param remarks kept events worth counting, by remark
 * @param problem how this batch and those before it contradict the registration, for people; null =
 *     they do not, or not any more
 * @param notice what else there is to say, for people; null = nothing, or nothing new
 * @param numbers stream and number of each event where events have their own, else empty
 * @param doubtful whether an event left out may have taken blocks away, which then seem to be there
 *     still
 */
public record NormalisedBatch(
    long timestampMicros,
    List<KvEvent> events,
    Map<SkipReason, Integer> skipped,
    Map<Remark, Integer> remarks,
    @Nullable String problem,
    @Nullable String notice,
    List<StreamNumber> numbers,
    boolean doubtful) {

  public NormalisedBatch {
    events = List.copyOf(events);
    numbers = List.copyOf(numbers);
    skipped = Collections.unmodifiableMap(skipped);
    remarks = Collections.unmodifiableMap(remarks);
  }

  /**
   * Place of an event in the order of its publisher's making.
   *
   * @param sub the stream, see {@link io.kvindex.model.StreamId#sub()}
   * @param eventId its number there
   */
  public record StreamNumber(String sub, long eventId) {}
}
