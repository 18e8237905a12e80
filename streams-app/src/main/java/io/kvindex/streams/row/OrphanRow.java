// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/**
 * {@code U}: a resident block whose prefix is not known yet.
 *
 * @param space where its meaning is waited for
 * @param order its turn among those that wait
 * @param copies how often it is surely there
 * @param undecided how many more copies there may be
 * @param awaited engine hash of its parent, or the block's own when no parent was named
 * @param hasLocal whether {@code local} was told
 * @param local hash of the block's own tokens
 * @param extra hash of what else its content depends on, 0 = nothing
 */
public record OrphanRow(
    int space,
    long order,
    int copies,
    int undecided,
    long awaited,
    boolean hasLocal,
    long local,
    long extra) {

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(48);
    out.writeVarint(space);
    out.writeVarint(order);
    out.writeVarint(copies);
    out.writeVarint(undecided);
    out.writeByte(hasLocal ? 1 : 0);
    out.writeLong(awaited);
    out.writeLong(local);
    out.writeLong(extra);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static OrphanRow decode(byte[] value) {
    RecordReader in = RowValue.reader(value);
    int space = in.readInt();
    long order = in.readVarint();
    int copies = in.readInt();
    int undecided = in.readInt();
    boolean hasLocal = in.readByte() != 0;
    return new OrphanRow(
        space, order, copies, undecided, in.readLong(), hasLocal, in.readLong(), in.readLong());
  }
}
