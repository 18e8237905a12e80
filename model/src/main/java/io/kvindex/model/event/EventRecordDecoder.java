// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import io.kvindex.model.event.EventRecordCodec.Source;
import java.util.Arrays;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads event records like {@link EventRecordCodec#decode}, but reads the source, with which all
 * records of a stream begin, once instead of once a record: table, stream and traits are a dozen
 * strings, more than all else that a short record allocates. For one thread.
 */
public final class EventRecordDecoder {

  /** Streams remembered: about as many as send to a partition in turn. */
  private static final int REMEMBERED = 256;

  private static final LongHashFunction HASH = LongHashFunction.xx3();

  /**
   * @param bytes what the source was read from. No other source begins with them, as its fields say
   *     how long they are
   */
  private record Known(byte[] bytes, Source source) {
    boolean isOf(byte[] record) {
      int end = 1 + bytes.length;
      return end <= record.length && Arrays.equals(bytes, 0, bytes.length, record, 1, end);
    }
  }

  /** By a hash of the record's key. */
  private final @Nullable Known[] known = new Known[REMEMBERED];

  /**
   * Reads a record.
   *
   * @param key of the record in Kafka: says where to look for its source, and nothing else
   * @throws MalformedRecordException if the bytes are no record, are cut short, or have a newer
   *     version
   */
  public EventRecord decode(byte @Nullable [] key, byte[] bytes) {
    if (key == null || bytes.length == 0 || bytes[0] != EventRecordCodec.VERSION) {
      return EventRecordCodec.decode(bytes);
    }
    RecordReader in = new RecordReader(bytes, 1);
    return EventRecordCodec.decode(in, () -> source(key, bytes, in));
  }

  private Source source(byte[] key, byte[] bytes, RecordReader in) {
    int slot = (int) HASH.hashBytes(key) & REMEMBERED - 1;
    Known last = known[slot];
    if (last != null && last.isOf(bytes)) {
      in.skip(last.bytes.length);
      return last.source;
    }
    Source source = EventRecordCodec.readSource(in, EventRecordCodec.VERSION);
    known[slot] = new Known(Arrays.copyOfRange(bytes, 1, in.at()), source);
    return source;
  }
}
