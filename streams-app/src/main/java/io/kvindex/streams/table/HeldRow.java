// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

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

  byte[] encode() {
    RecordWriter out = Rows.writer(record.length + 24);
    out.writeZigZag(sourceOffset);
    out.writeZigZag(appendTimeMs);
    out.writeBytes(record);
    return out.toByteArray();
  }

  static HeldRow decode(byte[] value) {
    RecordReader in = Rows.reader(value);
    return new HeldRow(in.readZigZag(), in.readZigZag(), in.readRest());
  }
}
