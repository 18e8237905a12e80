// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.streams.index.Owner;

/**
 * {@code O}: whose cache on which medium in which life. Deleted once a dead owner's blocks are.
 *
 * @param tableRef table of its blocks
 * @param publisherRef who announced them
 * @param owner who that is, and where they are
 * @param dead fenced, cleared, retired or expired: its blocks count no more and are being deleted
 * @param expiresAtMs time of the log from which its blocks count no more, {@link #NEVER} = none
 * @param copiesUnsure whether it may hold blocks that are not remembered, so that one which is not
 *     known may be there all the same
 */
public record OwnerRow(
    int tableRef,
    int publisherRef,
    Owner owner,
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
    return new OwnerRow(tableRef, publisherRef, owner, true, expiresAtMs, copiesUnsure);
  }

  /** The same owner, which may hold blocks from here on that are not remembered. */
  public OwnerRow unsureOfCopies() {
    return new OwnerRow(tableRef, publisherRef, owner, dead, expiresAtMs, true);
  }

  byte[] encode() {
    RecordWriter out = Rows.writer(32);
    out.writeVarint(tableRef);
    out.writeVarint(publisherRef);
    out.writeVarint(owner.rank());
    out.writeString(owner.medium());
    out.writeString(owner.backendId());
    out.writeByte(
        (owner.pool() ? POOL : 0) | (dead ? DEAD : 0) | (copiesUnsure ? COPIES_UNSURE : 0));
    EventRecordCodec.writeIncarnation(out, owner.incarnation());
    if (expiresAtMs != NEVER) {
      out.writeVarint(expiresAtMs);
    }
    return out.toByteArray();
  }

  static OwnerRow decode(byte[] value, Numbered<PublisherId, PublisherRow> publishers) {
    RecordReader in = Rows.reader(value);
    int tableRef = in.readInt();
    int publisherRef = in.readInt();
    PublisherId publisher = publishers.get(publisherRef).publisher();
    int rank = in.readInt();
    String medium = in.readString();
    String backendId = in.readString();
    int flags = in.readByte();
    Owner owner =
        new Owner(
            publisher.tenantId(),
            publisher.instanceId(),
            publisher.dpRank(),
            rank,
            medium,
            (flags & POOL) != 0,
            backendId,
            Rows.readIncarnation(in));
    return new OwnerRow(
        tableRef,
        publisherRef,
        owner,
        (flags & DEAD) != 0,
        in.atEnd() ? NEVER : in.readVarint(),
        (flags & COPIES_UNSURE) != 0);
  }
}
