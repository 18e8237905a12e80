// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordWriter;

/** {@code T}: the identity of a table. */
public record TableRow(TableId table) {

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(64);
    EventRecordCodec.writeTable(out, table);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static TableRow decode(byte[] value) {
    return new TableRow(EventRecordCodec.readTable(RowValue.reader(value)));
  }
}
