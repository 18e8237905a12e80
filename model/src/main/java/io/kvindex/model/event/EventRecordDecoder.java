// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import java.util.Arrays;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads event records like {@link EventRecordCodec#decode}, and makes what all records of a stream
 * begin with once instead of once a record: a record's table, stream and traits are a dozen strings
 * and what is made of them, more than all else that a short one allocates. For one thread.
 */
public final class EventRecordDecoder {

  /** Streams of a partition that speak in turn are about as many. */
  private static final int KNOWN = 256;

  private static final LongHashFunction HASH = LongHashFunction.xx3();

  private record Known(byte[] bytes, EventRecordCodec.Source source) {}

  private final @Nullable Known[] known = new Known[KNOWN];

  /**
   * Reads a record.
   *
   * @throws MalformedRecordException if the bytes are no record, are cut short, or have a newer
   *     version
   */
  public EventRecord decode(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != EventRecordCodec.VERSION) {
      return EventRecordCodec.decode(bytes);
    }
    RecordReader in = new RecordReader(bytes, 1);
    return EventRecordCodec.decode(in, () -> source(bytes, in));
  }

  private EventRecordCodec.Source source(byte[] bytes, RecordReader in) {
    EventRecordCodec.skipSource(in);
    int end = in.at();
    int slot = (int) HASH.hashBytes(bytes, 1, end - 1) & KNOWN - 1;
    Known there = known[slot];
    if (there == null || !Arrays.equals(there.bytes, 0, there.bytes.length, bytes, 1, end)) {
      RecordReader again = new RecordReader(bytes, 1);
      there =
          new Known(
              Arrays.copyOfRange(bytes, 1, end),
              EventRecordCodec.readSource(again, EventRecordCodec.VERSION));
      known[slot] = there;
    }
    return there.source;
  }
}
