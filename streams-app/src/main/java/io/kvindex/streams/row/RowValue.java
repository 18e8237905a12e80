// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/** What all row values share: a version byte first, so that an older program refuses newer rows. */
final class RowValue {

  private static final int VERSION = RowKind.LAYOUT_VERSION;

  private RowValue() {}

  static RecordWriter writer(int capacity) {
    RecordWriter out = new RecordWriter(capacity);
    out.writeByte(VERSION);
    return out;
  }

  static RecordReader reader(byte[] value) {
    RecordReader in = new RecordReader(value);
    int version = in.readByte();
    if (version != VERSION) {
      throw new MalformedRecordException(
          "row version " + version + " is not known here: written by a newer kvindex?");
    }
    return in;
  }

  static Incarnation readIncarnation(RecordReader in) {
    return new Incarnation(in.readZigZag(), in.readZigZag(), in.readZigZag());
  }
}
