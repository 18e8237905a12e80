// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.TableView;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.RunVisitor;

/**
 * Writes down a walk for the replica that asked for it; the layout is {@link WalkAnswer}'s. For one
 * walk.
 */
final class AnswerWriter implements RunVisitor {
  /**
   * Longest answer, bytes: it is in memory here and there, for each of the queries in flight.
   * 16,384 blocks of which each has other owners than the one before, of 4,096 owners, need half of
   * it.
   */
  static final int MAX_BYTES = 16 << 20;

  private static final int POOL = 1;

  private final RecordWriter out = new RecordWriter(1 << 10);
  private final long known;
  private int words;

  /**
   * @param known number of the owner list the asker has
   */
  AnswerWriter(TableView view, long known) {
    this.known = known;
    out.writeByte(WalkAnswer.VERSION);
    Told.of(view).write(out);
  }

  @Override
  public void begin(OwnerView owners) {
    words = owners.words();
    out.writeLong(owners.id());
    if (owners.id() == known) {
      out.writeByte(0);
      return;
    }
    out.writeByte(1);
    out.writeVarint(owners.slots());
    for (int slot = 0; slot < owners.slots(); slot++) {
      Owner owner = owners.owner(slot);
      out.writeByte(owner == null ? 0 : 1);
      if (owner != null) {
        write(owner);
      }
      requireBounded();
    }
  }

  private void write(Owner owner) {
    out.writeString(owner.tenantId());
    out.writeString(owner.instanceId());
    out.writeVarint(owner.publisherRank());
    out.writeVarint(owner.rank());
    out.writeString(owner.medium());
    out.writeByte(owner.pool() ? POOL : 0);
    out.writeString(owner.backendId());
    EventRecordCodec.writeIncarnation(out, owner.incarnation());
  }

  @Override
  public boolean change(int position, long[] ownerBits) {
    out.writeVarint(position + 1L);
    for (int i = 0; i < words; i++) {
      out.writeLong(ownerBits[i]);
    }
    requireBounded();
    return true;
  }

  private void requireBounded() {
    if (out.size() > MAX_BYTES) {
      throw ApiException.of(
          ErrorCode.TOO_MANY_ITEMS,
          "what holds this prompt takes more than "
              + MAX_BYTES
              + " bytes to say; ask a replica that has the table, or for a shorter prompt");
    }
  }

  @Override
  public void end(int position) {
    out.writeVarint(0);
    out.writeVarint(position);
  }

  /** The answer, once the walk is over. */
  byte[] toByteArray() {
    return out.toByteArray();
  }
}
