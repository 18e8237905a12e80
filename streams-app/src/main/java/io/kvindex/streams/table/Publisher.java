// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Holder;
import io.kvindex.streams.index.Owner;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code P}: a publisher and its current life. What changes of it is in its row at once. */
public final class Publisher {

  /** Attention groups told apart; blocks of higher ones are not indexed. */
  public static final int MAX_GROUPS = Long.SIZE;

  private final Blocks blocks;
  private final int ref;
  private final PublisherId id;
  private final List<OwnerState> live = new ArrayList<>();
  private Incarnation life;
  private long groups;
  private boolean device;

  /** One in a life of which nothing is known yet. */
  Publisher(Blocks blocks, int ref, PublisherId id, Incarnation life) {
    this.blocks = blocks;
    this.ref = ref;
    this.id = id;
    this.life = begun(life);
  }

  private static Incarnation begun(Incarnation life) {
    return new Incarnation(life.generation(), life.life(), 0);
  }

  static Publisher decode(Blocks blocks, int ref, byte[] value) {
    RecordReader in = Rows.reader(value);
    PublisherId id =
        new PublisherId(in.readRequiredString(), in.readRequiredString(), in.readInt());
    Publisher loaded = new Publisher(blocks, ref, id, Incarnation.NONE);
    loaded.life = Rows.readIncarnation(in);
    loaded.groups = in.readVarint();
    loaded.device = !in.atEnd() && in.readByte() != 0;
    return loaded;
  }

  void save() {
    RecordWriter out = Rows.writer(48);
    out.writeString(id.instanceId());
    out.writeString(id.tenantId());
    out.writeVarint(id.dpRank());
    EventRecordCodec.writeIncarnation(out, life);
    out.writeVarint(groups);
    out.writeByte(device ? 1 : 0);
    blocks.journal().put(Rows.key(Rows.PUBLISHER, ref), out.toByteArray());
  }

  /** Its number in rows. */
  public int ref() {
    return ref;
  }

  /** Who it is. */
  public PublisherId id() {
    return id;
  }

  /** Its newest life; its {@code clears} counts the clears seen in that life. */
  public Incarnation life() {
    return life;
  }

  /**
   * Bit per attention group seen in stores of this life, or per object its blocks are made of; 0 =
   * nothing was stored.
   */
  public long groups() {
    return groups;
  }

  /**
   * Whether it has announced a block of the device tier in this life, so that what its blocks mean
   * is to be learned from the device alone.
   */
  public boolean device() {
    return device;
  }

  /** Its live owners: in the order of their numbers, whichever came first, as after loading. */
  public List<OwnerState> live() {
    return live;
  }

  void add(OwnerState owner) {
    int at = live.size();
    while (at > 0 && live.get(at - 1).id() > owner.id()) {
      at--;
    }
    live.add(at, owner);
    useGroups(owner.holder(), 0);
  }

  /** Who holds blocks of it in a life. */
  Owner owner(
      int rank, @Nullable String medium, boolean pool, @Nullable String backend, Incarnation in) {
    return new Owner(id.tenantId(), id.instanceId(), id.dpRank(), rank, medium, pool, backend, in);
  }

  /**
   * A new life begins.
   *
   * @param kept whether it begins with blocks of the former one
   */
  public void begin(Incarnation newLife, boolean kept) {
    life = begun(newLife);
    groups = kept ? groups : 0;
    device = kept && device;
    save();
  }

  /** One more clear of this life. */
  public void clear() {
    life = life.cleared();
    save();
  }

  /**
   * Its blocks are of these groups, too.
   *
   * @param more bit per group
   */
  public void use(long more) {
    long before = groups;
    groups |= more;
    if (groups != before) {
      live.forEach(owner -> useGroups(owner.holder(), before));
      save();
    }
  }

  private void useGroups(Holder holder, long before) {
    if (Long.bitCount(groups) > 1) {
      int former = Long.numberOfTrailingZeros(before == 0 ? groups : before);
      for (long left = groups & ~before & ~(1L << former); left != 0; left &= left - 1) {
        blocks.addGroup(holder, former, Long.numberOfTrailingZeros(left));
      }
    }
  }

  /** It has announced a block of the device tier. */
  public void speakOfDevice() {
    device = true;
    save();
  }
}
