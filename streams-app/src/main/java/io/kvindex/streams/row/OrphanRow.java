// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/**
 * {@code U}: a resident block whose prefix is not known yet.
 *
 * @param awaited engine hash of its parent, or the block's own when no parent was named
 * @param hasLocal whether {@code local} was told
 * @param local hash of the block's own tokens
 * @param extra hash of what else its content depends on, 0 = nothing
 */
public record OrphanRow(long awaited, boolean hasLocal, long local, long extra) {

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(32);
    out.writeByte(hasLocal ? 1 : 0);
    out.writeLong(awaited);
    out.writeLong(local);
    out.writeLong(extra);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static OrphanRow decode(byte[] value) {
    RecordReader in = RowValue.reader(value);
    boolean hasLocal = in.readByte() != 0;
    return new OrphanRow(in.readLong(), hasLocal, in.readLong(), in.readLong());
  }
}
