// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.follow.BatchDecoder.Decoded;
import io.kvindex.bridge.normalise.NormalisedBatch.StreamNumber;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.event.KvEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Leaves out events of a batch whose number is not beyond the last one of their stream: they were
 * taken before. Stateless.
 */
final class FreshNumbers {

  /** Streams of a publisher told apart; their numbers travel with each progress record. */
  static final int MAX_STREAMS = 1_000;

  /** Characters of their keys together, as a progress record has to fit Kafka's limit of 1 MB. */
  static final int MAX_KEY_CHARS = 256 << 10;

  private FreshNumbers() {}

  /**
   * @param prefix characters of the publisher's own key, which each stream's key repeats
   */
  static Decoded fresh(Decoded decoded, SendSession session, int prefix) {
    List<KvEvent> events = new ArrayList<>(decoded.events().size());
    List<StreamNumber> numbers = new ArrayList<>(decoded.events().size());
    Map<String, Long> skipped = new HashMap<>(decoded.skipped());
    Map<String, Long> last = new HashMap<>();
    int added = 0;
    long chars = session.streamChars();
    for (int i = 0; i < decoded.events().size(); i++) {
      StreamNumber number = decoded.numbers().get(i);
      Long before = last.get(number.sub());
      before = before == null ? session.sentId(number.sub()) : before;
      int streams = session.streams() + added + 1;
      boolean room =
          streams <= MAX_STREAMS
              && chars + number.sub().length() + (long) streams * (prefix + 1) <= MAX_KEY_CHARS;
      SkipReason reason = reasonToSkip(number, before, room);
      if (reason != null) {
        skipped.merge(reason.label(), 1L, Long::sum);
        continue;
      }
      if (before == null) {
        added++;
        chars += number.sub().length();
      }
      last.put(number.sub(), number.eventId());
      events.add(decoded.events().get(i));
      numbers.add(number);
    }
    return new Decoded(
        decoded.sourceMicros(),
        events,
        skipped,
        decoded.remarks(),
        decoded.rejected(),
        decoded.mismatch(),
        decoded.notice(),
        numbers,
        decoded.doubtful());
  }

  private static @Nullable SkipReason reasonToSkip(
      StreamNumber number, @Nullable Long before, boolean room) {
    if (before != null && Long.compareUnsigned(number.eventId(), before) <= 0) {
      return SkipReason.DUPLICATE_EVENT;
    }
    return before == null && !room ? SkipReason.STREAM_LIMIT : null;
  }
}
