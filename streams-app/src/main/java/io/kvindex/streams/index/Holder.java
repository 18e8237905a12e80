// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;

/**
 * An owner as the blocks know it: its slots in the owner sets of its table. While its publisher
 * uses one attention group, there is one, which queries see. With several, each group has a hidden
 * one, and queries see another that a block has while all groups hold it. Belongs to the writer.
 */
public final class Holder {

  /** Bits of a number that say which of the holder's slots. */
  static final int PART_BITS = 16;

  static final int MOST_PARTS = (1 << PART_BITS) - 1;
  private static final int NONE = -1;

  final int table;
  private final int id;
  private final Owner owner;
  private int visible;
  private int[] byGroup = {};

  /** Slots that were the visible one before a group was added, until they are swept. */
  private int[] former = {};

  /** Spaces it was ever said to have blocks in, lowest first; nearly always one. */
  private int[] spaces = {};

  /** Slots it has had so far. */
  private int parts;

  private int undecided;
  private boolean copiesUnsure;
  private boolean dead;

  Holder(int table, int id, Owner owner, int visible) {
    this.table = table;
    this.id = id;
    this.owner = owner;
    this.visible = visible;
  }

  /** Its number in rows, never given again. */
  public int id() {
    return id;
  }

  /** Who it is. */
  public Owner owner() {
    return owner;
  }

  /** The slot queries see. */
  public int visible() {
    return visible;
  }

  /** How many of its blocks may be gone. */
  public int undecided() {
    return undecided;
  }

  /**
   * Whether it may hold blocks that are not remembered, so that one which is not known may be there
   * all the same.
   */
  public boolean copiesUnsure() {
    return copiesUnsure;
  }

  /** From here on it may. */
  public void loseCopies() {
    copiesUnsure = true;
  }

  /** Whether it counts no more. */
  public boolean isDead() {
    return dead;
  }

  void die() {
    dead = true;
  }

  void addUndecided(int change) {
    undecided += change;
  }

  boolean isGrouped() {
    return byGroup.length > 0;
  }

  /** The slot of a group's blocks, -1 = it has had none. */
  int slot(int group) {
    if (!isGrouped()) {
      return visible;
    }
    return group < byGroup.length ? byGroup[group] : NONE;
  }

  /** The group a slot of it is of, -1 = of none: it is the visible one of several. */
  int groupOf(int slot) {
    for (int group = 0; group < byGroup.length; group++) {
      if (byGroup[group] == slot) {
        return group;
      }
    }
    return NONE;
  }

  void setVisible(int slot) {
    visible = slot;
  }

  void setSlot(int group, int slot) {
    if (group >= byGroup.length) {
      int known = byGroup.length;
      byGroup = Arrays.copyOf(byGroup, group + 1);
      Arrays.fill(byGroup, known, group, NONE);
    }
    byGroup[group] = slot;
  }

  /** All its slots, visible one first. */
  int[] slots() {
    int[] all = new int[1 + byGroup.length];
    all[0] = visible;
    int count = 1;
    for (int slot : byGroup) {
      if (slot != NONE) {
        all[count++] = slot;
      }
    }
    return Arrays.copyOf(all, count);
  }

  int[] former() {
    return former;
  }

  void addFormer(int slot) {
    former = Arrays.copyOf(former, former.length + 1);
    former[former.length - 1] = slot;
  }

  void removeFormer(int slot) {
    former = Arrays.stream(former).filter(other -> other != slot).toArray();
  }

  /** In how many spaces it was ever said to have blocks. */
  public int spaceCount() {
    return spaces.length;
  }

  /** One of these spaces; their order is that of their numbers, whichever it used first. */
  public int space(int i) {
    return spaces[i];
  }

  /** In order, so that it does not matter which was first: a restart may tell otherwise. */
  void usesSpace(int ref) {
    for (int space : spaces) {
      if (space == ref) {
        return;
      }
    }
    spaces = Arrays.copyOf(spaces, spaces.length + 1);
    spaces[spaces.length - 1] = ref;
    Arrays.sort(spaces);
  }

  // ------------------------------------------------------------------- in rows

  /**
   * What its next slot is called in rows: slots are given again, numbers are not. The first one has
   * part 0, whatever it becomes later.
   */
  long nextNumber() {
    if (parts > MOST_PARTS) {
      throw new IllegalStateException("BUG: a holder with more than " + MOST_PARTS + " slots");
    }
    return numberOf(parts++);
  }

  long numberOf(int part) {
    return (long) id << PART_BITS | part;
  }

  /** The holder a number is of. */
  static int idOf(long number) {
    return (int) (number >>> PART_BITS);
  }

  /** Which of a holder's slots, in the order it got them. */
  static int partOf(long number) {
    return (int) number & MOST_PARTS;
  }

  /** It is as if it was just added, with that slot. */
  void renew(int slot) {
    visible = slot;
    byGroup = new int[0];
    parts = 0;
    dead = false;
  }

  int parts() {
    return parts;
  }

  void setParts(int count) {
    parts = count;
  }

  /** One more than the highest group it has a slot of, 0 = it is not grouped. */
  int groupsEnd() {
    return byGroup.length;
  }

  /** Whether a set has a bit for each of the groups. */
  boolean isWhole(OwnerSet set, long groups) {
    for (long left = groups; left != 0; left &= left - 1) {
      int slot = slot(Long.numberOfTrailingZeros(left));
      if (slot == NONE || !set.contains(slot)) {
        return false;
      }
    }
    return true;
  }
}
