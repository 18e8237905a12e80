// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.stream.LongStream;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * When a bridge was how far with a batch, by its wall clock, in microseconds since the epoch: a
 * header of the last record of one batch in many. For figures, never for decisions.
 *
 * @param readMicros its frame was read from the socket
 * @param decodedMicros it was event records
 * @param producedMicros the last of them was given to the producer
 */
public record BatchTrace(long readMicros, long decodedMicros, long producedMicros) {

  /** Of the metric that shows traces, which bridges and indexers have parts of. */
  public static final String METRIC_DESCRIPTION =
      "where the time of one batch in many goes; fetch and visible compare the clocks of two"
          + " machines";

  private static final String NAME = "trace";
  private static final byte VERSION = 1;
  private static final int BYTES = 1 + 3 * Long.BYTES;

  /** Edges of the buckets of that metric, the same for all stages so that they can be compared. */
  public static Duration[] bucketEdges() {
    return LongStream.of(10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
        .flatMap(decade -> LongStream.of(decade, 2 * decade, 5 * decade))
        .mapToObj(micros -> Duration.of(micros, ChronoUnit.MICROS))
        .toArray(Duration[]::new);
  }

  /** To be written with the record. */
  public Header header() {
    byte[] value =
        ByteBuffer.allocate(BYTES)
            .put(VERSION)
            .putLong(readMicros)
            .putLong(decodedMicros)
            .putLong(producedMicros)
            .array();
    return new RecordHeader(NAME, value);
  }

  /**
   * Reads it back.
   *
   * @return null = the record has none, or none that can be used: damaged, of a later version, or
   *     of a clock that was set back meanwhile
   */
  public static @Nullable BatchTrace of(Headers headers) {
    Header header = headers.lastHeader(NAME);
    byte[] value = header == null ? null : header.value();
    if (value == null || value.length != BYTES || value[0] != VERSION) {
      return null;
    }
    ByteBuffer buffer = ByteBuffer.wrap(value, 1, BYTES - 1);
    BatchTrace trace = new BatchTrace(buffer.getLong(), buffer.getLong(), buffer.getLong());
    return trace.isPlausible() ? trace : null;
  }

  private boolean isPlausible() {
    return readMicros > 0 && readMicros <= decodedMicros && decodedMicros <= producedMicros;
  }
}
