// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import java.nio.ByteBuffer;
import org.apache.kafka.common.utils.Bytes;

/**
 * {@code U}: a resident block whose prefix is not known yet.
 *
 * @param space where its meaning is waited for
 * @param hash its engine hash
 * @param ownerId who holds it
 * @param group attention group
 * @param order orphans wait, and are linked, in ascending order of it
 * @param copies how often it is surely there, at least 1
 * @param undecided how many more copies there may be
 * @param awaited engine hash of its parent, or its own where no parent was named
 * @param hasLocal whether {@code local} was told
 * @param local hash of the block's own tokens
 * @param extra hash of what else its content depends on, 0 = nothing
 */
public record Orphan(
    int space,
    long hash,
    int ownerId,
    int group,
    long order,
    int copies,
    int undecided,
    long awaited,
    boolean hasLocal,
    long local,
    long extra) {

  /** The same with another number of copies. */
  public Orphan withCopies(int certain, int perhaps) {
    return new Orphan(
        space, hash, ownerId, group, order, certain, perhaps, awaited, hasLocal, local, extra);
  }

  Bytes key() {
    return Rows.orphan(ownerId, hash, group);
  }

  byte[] encode() {
    RecordWriter out = Rows.writer(48);
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

  /** Reads {@link #key} and {@link #encode} back. */
  public static Orphan decode(byte[] key, byte[] value) {
    ByteBuffer of = ByteBuffer.wrap(key, 1, key.length - 1);
    int ownerId = of.getInt();
    long hash = of.getLong();
    int group = of.get();
    RecordReader in = Rows.reader(value);
    int space = in.readInt();
    long order = in.readVarint();
    int copies = in.readInt();
    int undecided = in.readInt();
    boolean hasLocal = in.readByte() != 0;
    return new Orphan(
        space,
        hash,
        ownerId,
        group,
        order,
        copies,
        undecided,
        in.readLong(),
        hasLocal,
        in.readLong(),
        in.readLong());
  }
}
