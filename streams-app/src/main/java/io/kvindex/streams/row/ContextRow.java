// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import org.jspecify.annotations.Nullable;

/** {@code C}: the names behind a context hash; null = none of that kind. */
public record ContextRow(
    @Nullable String loraName, @Nullable String namespace, @Nullable String salt) {

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(32);
    out.writeString(loraName);
    out.writeString(namespace);
    out.writeString(salt);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static ContextRow decode(byte[] value) {
    RecordReader in = RowValue.reader(value);
    return new ContextRow(in.readString(), in.readString(), in.readString());
  }
}
