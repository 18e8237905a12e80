// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Holder;
import io.kvindex.streams.index.Owner;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** The owners of a partition, live and dead: rows {@code O}. */
public final class Owners {

  private static final int POOL = 1;
  private static final int DEAD = 2;
  private static final int COPIES_UNSURE = 4;

  private final Blocks blocks;
  private final Numbered<PublisherId, Publisher> publishers;
  private final Map<Integer, OwnerState> byId = new HashMap<>();

  /** The live ones that have an end, by it. */
  private final PriorityQueue<OwnerState> expiring =
      new PriorityQueue<>(Comparator.comparingLong(OwnerState::expiresAtMs));

  private int highest;

  Owners(Blocks blocks, Numbered<PublisherId, Publisher> publishers) {
    this.blocks = blocks;
    this.publishers = publishers;
  }

  void load(int id, byte[] value) {
    RecordReader in = Rows.reader(value);
    int tableRef = in.readInt();
    Publisher publisher = publishers.get(in.readInt());
    int rank = in.readInt();
    String medium = in.readString();
    String backendId = in.readString();
    int flags = in.readByte();
    Incarnation life = Rows.readIncarnation(in);
    OwnerState loaded =
        add(
            id,
            tableRef,
            publisher,
            publisher.owner(rank, medium, (flags & POOL) != 0, backendId, life),
            in.atEnd() ? OwnerState.NEVER : in.readVarint());
    if ((flags & COPIES_UNSURE) != 0) {
      loaded.holder().loseCopies();
    }
    if ((flags & DEAD) != 0) {
      bury(loaded);
    }
  }

  private void save(OwnerState state) {
    Holder holder = state.holder();
    Owner owner = state.owner();
    RecordWriter out = Rows.writer(32);
    out.writeVarint(state.tableRef());
    out.writeVarint(state.publisher().ref());
    out.writeVarint(owner.rank());
    out.writeString(owner.medium());
    out.writeString(owner.backendId());
    out.writeByte(
        (owner.pool() ? POOL : 0)
            | (holder.isDead() ? DEAD : 0)
            | (holder.copiesUnsure() ? COPIES_UNSURE : 0));
    EventRecordCodec.writeIncarnation(out, owner.incarnation());
    if (state.expiresAtMs() != OwnerState.NEVER) {
      out.writeVarint(state.expiresAtMs());
    }
    blocks.journal().put(Rows.key(Rows.OWNER, state.id()), out.toByteArray());
  }

  private OwnerState add(int id, int tableRef, Publisher publisher, Owner owner, long expiresAtMs) {
    Holder holder = blocks.addHolder(tableRef, id, owner);
    OwnerState added = new OwnerState(tableRef, publisher, holder, expiresAtMs);
    byId.put(id, added);
    publisher.add(added);
    if (expiresAtMs != OwnerState.NEVER) {
      expiring.add(added);
    }
    return added;
  }

  /**
   * There is one owner more, of its publisher's newest life.
   *
   * @param pool whether its blocks serve other instances
   * @param expiresAtMs see {@link OwnerState}
   */
  public OwnerState add(
      int tableRef, Publisher publisher, Place place, boolean pool, long expiresAtMs) {
    highest = next();
    RecordWriter out = Rows.writer(6);
    out.writeVarint(highest);
    blocks.journal().put(Rows.key(Rows.LOG, Rows.OWNERS), out.toByteArray());
    Owner owner =
        publisher.owner(place.rank(), place.medium(), pool, place.backendId(), publisher.life());
    OwnerState added = add(highest, tableRef, publisher, owner, expiresAtMs);
    save(added);
    return added;
  }

  /** From here on it may hold blocks that are not remembered. */
  public void loseCopies(OwnerState owner) {
    if (!owner.holder().copiesUnsure()) {
      owner.holder().loseCopies();
      save(owner);
    }
  }

  /** It is in no answer from here on; its blocks go bit by bit, see {@link #sweep}. */
  public void kill(OwnerState owner) {
    bury(owner);
    save(owner);
  }

  private void bury(OwnerState owner) {
    blocks.kill(owner.holder());
    owner.publisher().live().remove(owner);
    expiring.remove(owner);
  }

  /** Takes out some of what the dead have held, and those of whom nothing is left. */
  public void sweep() {
    blocks.sweep(
        holder -> {
          blocks.journal().put(Rows.key(Rows.OWNER, holder.id()), null);
          byId.remove(holder.id());
        });
  }

  /** Live owners whose time is over, each named once: the caller lets them die. */
  public List<OwnerState> due(long nowMs) {
    List<OwnerState> due = List.of();
    for (OwnerState next = expiring.peek();
        next != null && next.expiresAtMs() <= nowMs;
        next = expiring.peek()) {
      due = due.isEmpty() ? new ArrayList<>() : due;
      due.add(expiring.remove());
    }
    return due;
  }

  /** Live and dead, in no order. */
  public Collection<OwnerState> all() {
    return byId.values();
  }

  /** The owner with that number, null = its row is gone. */
  public @Nullable OwnerState byId(int id) {
    return byId.get(id);
  }

  void loadHighest(byte[] value) {
    highest = Math.max(highest, Rows.reader(value).readInt());
  }

  /** A number no owner has or had. */
  public int next() {
    return highest + 1;
  }
}
