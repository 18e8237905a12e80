// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordWriter;

/** {@code L}: name of the adapter an instance gave a number to. */
public record LoraRow(String name) {

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(32);
    out.writeString(name);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static LoraRow decode(byte[] value) {
    return new LoraRow(RowValue.reader(value).readRequiredString());
  }
}
