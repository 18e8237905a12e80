// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Blocks} have between two records that is in no name and no dictionary: the ends of
 * the ring, what holders have beside one slot, how far the sweeping of each table has come, and
 * under how many keys queries find its blocks.
 */
final class BlocksState {

  /** From one place up to another. */
  record Places(long from, long to) {}

  private BlocksState() {}

  static byte[] encode(Blocks blocks) {
    RecordWriter out = new RecordWriter(256);
    out.writeVarint(blocks.ring.head());
    out.writeVarint(blocks.ring.tail());
    List<Integer> refs = blocks.tables();
    out.writeVarint(refs.size());
    for (int ref : refs) {
      Blocks.Table table = blocks.table(ref);
      out.writeVarint(ref);
      holders(out, table);
      slots(out, table, table.dying);
      slots(out, table, table.swept);
      out.writeVarint(table.sweptTo);
      out.writeVarint(table.sweepBits);
    }
    // Last, as there are checkpoints that do not have them.
    for (int ref : refs) {
      out.writeVarint(blocks.table(ref).index.figures().blocks());
    }
    return out.toByteArray();
  }

  /** Those that are not just alive with one slot. */
  private static void holders(RecordWriter out, Blocks.Table table) {
    List<Holder> special = new ArrayList<>();
    for (int slot = 0; slot < table.bySlot.length; slot++) {
      Holder holder = table.bySlot[slot];
      if (holder != null && holder.visible() == slot && (holder.isDead() || holder.isGrouped())) {
        special.add(holder);
      }
    }
    out.writeVarint(special.size());
    for (Holder holder : special) {
      out.writeVarint(holder.id());
      out.writeByte(holder.isDead() ? 1 : 0);
      out.writeVarint(holder.parts());
      out.writeVarint(Holder.partOf(table.numbers[holder.visible()]));
      out.writeVarint(holder.groupsEnd());
      for (int group = 0; group < holder.groupsEnd(); group++) {
        int slot = holder.slot(group);
        out.writeVarint(slot < 0 ? 0 : 1 + Holder.partOf(table.numbers[slot]));
      }
    }
  }

  private static void slots(RecordWriter out, Blocks.Table table, List<Integer> slots) {
    out.writeVarint(slots.size());
    for (int slot : slots) {
      out.writeVarint(table.numbers[slot]);
    }
  }

  /**
   * Takes it back into blocks that have their tables, spaces and holders, and no names.
   *
   * @return places of the ring, which names are to fill
   * @throws MalformedRecordException if it is not of these
   */
  static Places restore(Blocks blocks, byte[] state) {
    RecordReader in = new RecordReader(state);
    long head = in.readVarint();
    long tail = in.readVarint();
    // The bound counts between two records; what one record leaves unheld is on top of it.
    if (head < 0 || tail < head || tail - head > 2L * Blocks.MOST_UNHELD) {
      throw new MalformedRecordException("a ring from " + head + " to " + tail);
    }
    List<Blocks.Table> tables = new ArrayList<>();
    for (int left = in.readCount(); left > 0; left--) {
      int ref = in.readInt();
      if (!blocks.tables().contains(ref)) {
        throw new MalformedRecordException("state of table " + ref + ", which no row names");
      }
      tables.add(blocks.table(ref));
      restore(blocks.table(ref), in);
    }
    boolean keysAreTold = !in.atEnd();
    for (Blocks.Table table : tables) {
      table.keysWritten = keysAreTold ? in.readVarint() : Long.MAX_VALUE;
      if (table.keysWritten < 0) {
        throw new MalformedRecordException("an index of " + table.keysWritten + " keys");
      }
    }
    in.requireEnd();
    return new Places(head, tail);
  }

  private static void restore(Blocks.Table table, RecordReader in) {
    Map<Integer, Holder> byId = new HashMap<>();
    for (Holder holder : table.bySlot) {
      if (holder != null) {
        byId.put(holder.id(), holder);
      }
    }
    renew(table);
    for (int left = in.readCount(); left > 0; left--) {
      holder(table, in, holder(byId, in.readInt()));
    }
    slots(table, in, byId, table.dying);
    List<Integer> swept = new ArrayList<>();
    slots(table, in, byId, swept);
    table.swept = List.copyOf(swept);
    Blocks.setSweptBits(table);
    table.sweptTo = in.readInt();
    table.sweepBits = in.readInt();
    if (!swept.isEmpty()
        && (table.sweepBits < 1
            || table.sweepBits > 31
            || table.sweptTo >= 1L << table.sweepBits)) {
      throw new MalformedRecordException("a sweep at " + table.sweptTo + " " + table.sweepBits);
    }
  }

  /**
   * Holders that have groups or are dead get one slot, as new ones: which slots they had in which
   * order no dictionary says.
   */
  private static void renew(Blocks.Table table) {
    Set<Holder> special = new LinkedHashSet<>();
    for (int slot = 0; slot < table.bySlot.length; slot++) {
      Holder holder = table.bySlot[slot];
      if (holder != null && (holder.isDead() || holder.isGrouped())) {
        special.add(holder);
        if (table.index.owners().owner(slot) != null) {
          table.index.retireOwner(slot);
        }
        table.index.freeOwner(slot);
        table.bySlot[slot] = null;
        table.numbers[slot] = Blocks.NOBODY;
      }
    }
    table.dying.clear();
    for (Holder holder : special) {
      int slot = table.index.addOwner(holder.owner());
      holder.renew(slot);
      Blocks.own(table, slot, holder, holder.nextNumber());
    }
  }

  private static Holder holder(Map<Integer, Holder> byId, int id) {
    @Nullable Holder holder = byId.get(id);
    if (holder == null) {
      throw new MalformedRecordException("state of holder " + id + ", which no row names");
    }
    return holder;
  }

  private static void holder(Blocks.Table table, RecordReader in, Holder holder) {
    boolean dead = in.readByte() != 0;
    int parts = in.readInt();
    int visiblePart = in.readInt();
    int groups = in.readCount();
    int first = holder.visible();
    if (groups > 0) {
      table.index.retireOwner(first);
      int visible = slot(table, holder, visiblePart);
      holder.setVisible(visible);
      for (int group = 0; group < groups; group++) {
        int part = in.readInt() - 1;
        if (part == 0) {
          holder.setSlot(group, first);
        } else if (part > 0) {
          int slot = slot(table, holder, part);
          table.index.retireOwner(slot);
          holder.setSlot(group, slot);
        }
      }
    }
    holder.setParts(parts);
    if (dead) {
      holder.die();
      table.index.retireOwner(holder.visible());
    }
  }

  private static int slot(Blocks.Table table, Holder holder, int part) {
    int slot = table.index.addOwner(holder.owner());
    Blocks.own(table, slot, holder, holder.numberOf(part));
    return slot;
  }

  private static void slots(
      Blocks.Table table, RecordReader in, Map<Integer, Holder> byId, List<Integer> to) {
    for (int left = in.readCount(); left > 0; left--) {
      long number = in.readVarint();
      Holder holder = holder(byId, Holder.idOf(number));
      int slot = table.slotOf(number);
      if (slot < 0) {
        // It showed whole blocks until its holder had one more group.
        slot = slot(table, holder, Holder.partOf(number));
        table.index.retireOwner(slot);
      }
      to.add(slot);
    }
  }
}
