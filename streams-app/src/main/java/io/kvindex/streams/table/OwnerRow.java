// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import org.jspecify.annotations.Nullable;

/**
 * {@code O}: whose cache on which medium in which life. Deleted once a dead owner's blocks are.
 *
 * @param tableRef table of its blocks
 * @param publisherRef who announced them
 * @param rank data-parallel rank of the blocks
 * @param medium medium as sent, null = none named
 * @param backendId cache owner inside the publisher, null = none named
 * @param pool whether its blocks serve other instances
 * @param incarnation the life it belongs to
 * @param dead fenced, cleared, retired or expired: its blocks count no more and are being deleted
 * @param expiresAtMs time of the log from which its blocks count no more, {@link #NEVER} = none
 * @param copiesUnsure whether it may hold blocks that have no row, so that a missing row is no
 *     proof of anything
 */
public record OwnerRow(
    int tableRef,
    int publisherRef,
    int rank,
    @Nullable String medium,
    @Nullable String backendId,
    boolean pool,
    Incarnation incarnation,
    boolean dead,
    long expiresAtMs,
    boolean copiesUnsure) {

  /** Time of owners whose blocks count until they are removed. */
  public static final long NEVER = 0;

  private static final int POOL = 1;
  private static final int DEAD = 2;
  private static final int COPIES_UNSURE = 4;

  /** The same owner, dead. */
  public OwnerRow died() {
    return with(true, copiesUnsure);
  }

  /** The same owner, which may hold blocks without a row from here on. */
  public OwnerRow unsureOfCopies() {
    return with(dead, true);
  }

  private OwnerRow with(boolean isDead, boolean isUnsure) {
    return new OwnerRow(
        tableRef,
        publisherRef,
        rank,
        medium,
        backendId,
        pool,
        incarnation,
        isDead,
        expiresAtMs,
        isUnsure);
  }

  byte[] encode() {
    RecordWriter out = Rows.writer(32);
    out.writeVarint(tableRef);
    out.writeVarint(publisherRef);
    out.writeVarint(rank);
    out.writeString(medium);
    out.writeString(backendId);
    out.writeByte((pool ? POOL : 0) | (dead ? DEAD : 0) | (copiesUnsure ? COPIES_UNSURE : 0));
    EventRecordCodec.writeIncarnation(out, incarnation);
    if (expiresAtMs != NEVER) {
      out.writeVarint(expiresAtMs);
    }
    return out.toByteArray();
  }

  static OwnerRow decode(byte[] value) {
    RecordReader in = Rows.reader(value);
    int tableRef = in.readInt();
    int publisherRef = in.readInt();
    int rank = in.readInt();
    String medium = in.readString();
    String backendId = in.readString();
    int flags = in.readByte();
    return new OwnerRow(
        tableRef,
        publisherRef,
        rank,
        medium,
        backendId,
        (flags & POOL) != 0,
        Rows.readIncarnation(in),
        (flags & DEAD) != 0,
        in.atEnd() ? NEVER : in.readVarint(),
        (flags & COPIES_UNSURE) != 0);
  }
}
