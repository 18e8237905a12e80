// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/**
 * {@code H}: a record that waits for its predecessor.
 *
 * @param sourceOffset its offset in the events topic
 * @param appendTimeMs the broker's time on it, milliseconds since the epoch
 * @param record the record as it came
 */
public record HeldRow(long sourceOffset, long appendTimeMs, byte[] record) {

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(record.length + 24);
    out.writeZigZag(sourceOffset);
    out.writeZigZag(appendTimeMs);
    out.writeBytes(record);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static HeldRow decode(byte[] value) {
    RecordReader in = RowValue.reader(value);
    return new HeldRow(in.readZigZag(), in.readZigZag(), in.readRest());
  }
}
