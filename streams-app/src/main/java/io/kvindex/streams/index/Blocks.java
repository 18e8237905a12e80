// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.MalformedRecordException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of a partition, all in memory: what the engines' hashes mean, who holds them, and the
 * indexes that queries walk. What is changed is noted in a {@link Journal}.
 *
 * <p>One name at a time is worked on: {@link #find} and {@link #teach} go to it, the methods that
 * say "the name" are about it, and any other that finds, teaches or trims may leave it somewhere
 * else. For the writer alone, except the indexes.
 */
public final class Blocks {

  /** Depths beyond are told as this one. */
  public static final int DEEPEST = (1 << 16) - 1;

  static final long HELD = 1L << 63;
  static final long COUNTED = 1L << 62;
  static final long BY_DEVICE = 1L << 61;
  static final int DEPTH_AT = 45;
  static final int CONTEXT_AT = 25;
  private static final int CONTEXTS = 1 << DEPTH_AT - CONTEXT_AT;

  /** Owner set of a name that is held, else its place in the ring. */
  static final long LOW = (1L << CONTEXT_AT) - 1;

  /** Low bits of a name that is neither held nor in the ring. */
  static final long NO_PLACE = LOW;

  /** The most unheld names that can be kept. */
  public static final int MOST_UNHELD = (int) (LOW >>> 1);

  /** Number of a slot that nobody has. */
  static final long NOBODY = -1;

  /** Names whose memory is asked for at a time. */
  private static final int TOUCHED = 64;

  /** Names looked through for one step of sweeping, about. */
  private static final int SWEPT_AT_ONCE = 256;

  /** A table's index, and whose bits are in it. */
  static final class Table {
    final int ref;
    final PrefixIndex index;
    @Nullable Holder[] bySlot = new Holder[16];

    /** What each slot is called in rows, {@link #NOBODY} = it is swept or was never used. */
    long[] numbers = new long[16];

    /** Lowest first. */
    final List<Integer> spaces = new ArrayList<>();

    /** Slots of the dead that wait for the next round of sweeping. */
    final List<Integer> dying = new ArrayList<>();

    /** Those of the round under way; empty = there is none. */
    List<Integer> swept = List.of();

    /** Those of past rounds that the journal may still name: not to be given again yet. */
    final List<Integer> done = new ArrayList<>();

    long[] sweptBits = {};
    int sweptTo;
    int sweepBits;

    /** Keys of the index when what is being loaded was written, at most. */
    long keysWritten;

    Table(int ref, Epochs epochs) {
      this.ref = ref;
      index = new PrefixIndex(epochs);
      Arrays.fill(numbers, NOBODY);
    }

    /** The slot that has a number in rows, -1 = none has. */
    int slotOf(long number) {
      int slot = numbers.length - 1;
      while (slot >= 0 && (bySlot[slot] == null || numbers[slot] != number)) {
        slot--;
      }
      return slot;
    }

    void free() {
      done.forEach(index::freeOwner);
      done.clear();
    }
  }

  /** Names that mean the same for whoever looks them up in it. */
  record Space(int ref, Table table, NameTable names, boolean byName, long nameContext) {}

  private final Epochs epochs;
  final ContextRefs contexts;
  final RareCounts counts = new RareCounts();
  private final Contents contents = new Contents();
  final UnheldRing ring = new UnheldRing();

  /**
   * By how many names more than one a slot has a key: one prefix under several engine hashes, or
   * one engine hash in two spaces. By table and key.
   */
  private final RareCounts aliases = new RareCounts();

  private final long[] touchedKeys = new long[TOUCHED];

  @SuppressWarnings("UnusedVariable") // keeps loads alive whose value nobody needs
  private long touched;

  private @Nullable Table[] tables = new Table[4];
  private @Nullable Space[] spaces = new Space[8];
  private Journal journal;

  /** The name it is at. */
  private Space at;

  private NameTable names;

  /**
   * @param epochs shared by all indexes of the process
   * @param journal takes the changes
   */
  public Blocks(Epochs epochs, Journal journal) {
    this(epochs, journal, CONTEXTS);
  }

  @SuppressWarnings("NullAway") // it is at no name before the first is found
  Blocks(Epochs epochs, Journal journal, int contexts) {
    this.epochs = epochs;
    this.journal = journal;
    this.contexts = new ContextRefs(contexts);
  }

  /**
   * Goes on with another journal, between two records. The one so far is the caller's: complete,
   * with all that a checkpoint needs beside names and dictionaries.
   *
   * @param next an empty one, {@link Journal#none} = nothing is noted from here on
   */
  public Journal swap(Journal next) {
    Journal full = journal;
    if (full.isKept()) {
      long[][] numbers = new long[spaces.length][];
      for (Table table : tables) {
        long[] copy = table == null ? null : table.numbers.clone();
        for (int i = 0; table != null && i < table.spaces.size(); i++) {
          numbers[table.spaces.get(i)] = copy;
        }
      }
      full.complete(BlocksState.encode(this), numbers);
    }
    // Only now: what the journal calls by these slots is told by the numbers it has.
    for (Table table : tables) {
      if (table != null) {
        table.free();
      }
    }
    journal = next;
    return full;
  }

  /** Where changes are noted. */
  public Journal journal() {
    return journal;
  }

  // ------------------------------------------------------------------- tables, spaces, holders

  /** Adds a table; its index, for queries. */
  public PrefixIndex addTable(int ref) {
    if (ref >= tables.length) {
      tables = Arrays.copyOf(tables, Math.max(ref + 1, 2 * tables.length));
    }
    Table table = new Table(ref, epochs);
    tables[ref] = table;
    return table.index;
  }

  /**
   * Adds a space of a table.
   *
   * @param byName whether queries by hashes bring engines' names for its blocks
   * @param nameContext what is xored into such a name
   */
  public void addSpace(int ref, int tableRef, boolean byName, long nameContext) {
    if (ref >= spaces.length) {
      spaces = Arrays.copyOf(spaces, Math.max(ref + 1, 2 * spaces.length));
    }
    Table table = table(tableRef);
    spaces[ref] = new Space(ref, table, new NameTable(contents), byName, nameContext);
    table.spaces.add(ref);
    // Sweeping goes through them in an order that does not depend on which was first.
    Collections.sort(table.spaces);
  }

  Table table(int ref) {
    Table table = ref < tables.length ? tables[ref] : null;
    if (table == null) {
      throw new IllegalStateException("BUG: no table " + ref);
    }
    return table;
  }

  Space space(int ref) {
    Space space = ref < spaces.length ? spaces[ref] : null;
    if (space == null) {
      throw new IllegalStateException("BUG: no space " + ref);
    }
    return space;
  }

  /** A new owner of blocks of a table. */
  public Holder addHolder(int tableRef, int id, Owner owner) {
    Table table = table(tableRef);
    Holder holder = new Holder(tableRef, id, owner, table.index.addOwner(owner));
    own(table, holder.visible(), holder, holder.nextNumber());
    return holder;
  }

  static void own(Table table, int slot, Holder holder, long number) {
    int known = table.bySlot.length;
    if (slot >= known) {
      table.bySlot = Arrays.copyOf(table.bySlot, Math.max(slot + 1, 2 * known));
      table.numbers = Arrays.copyOf(table.numbers, table.bySlot.length);
      Arrays.fill(table.numbers, known, table.numbers.length, NOBODY);
    }
    table.bySlot[slot] = holder;
    table.numbers[slot] = number;
  }

  /**
   * Another group has blocks, or will: nothing is whole until it has them, too.
   *
   * @param former group of the blocks it has as the only one
   */
  public void addGroup(Holder holder, int former, int group) {
    Table table = table(holder.table);
    if (!holder.isGrouped()) {
      holder.setSlot(former, holder.visible());
      table.index.retireOwner(holder.visible());
    } else {
      retireWhole(table, holder);
    }
    int visible = table.index.addOwner(holder.owner());
    holder.setVisible(visible);
    own(table, visible, holder, holder.nextNumber());
    if (holder.slot(group) < 0) {
      int slot = table.index.addOwner(holder.owner());
      table.index.retireOwner(slot);
      holder.setSlot(group, slot);
      own(table, slot, holder, holder.nextNumber());
    }
  }

  private static void retireWhole(Table table, Holder holder) {
    int slot = holder.visible();
    table.index.retireOwner(slot);
    if (table.index.members(slot) == 0) {
      // As a rule all groups are named before a block is whole: nothing has to be swept.
      table.bySlot[slot] = null;
      table.index.freeOwner(slot);
    } else {
      holder.addFormer(slot);
      table.dying.add(slot);
    }
  }

  /** It is in no answer from here on; its blocks are taken out by {@link #sweep}. */
  public void kill(Holder holder) {
    Table table = table(holder.table);
    holder.die();
    table.index.retireOwner(holder.visible());
    for (int slot : holder.slots()) {
      table.dying.add(slot);
    }
  }

  // ------------------------------------------------------------------- the name

  private void at(Space space) {
    at = space;
    names = space.names;
  }

  /**
   * Asks the memory for names about to be looked up, and for where the index has them, so that the
   * waiting overlaps.
   */
  public void touch(int spaceRef, Hashes hashes) {
    Space space = space(spaceRef);
    for (int from = 0; from < hashes.size(); from += TOUCHED) {
      int count = Math.min(TOUCHED, hashes.size() - from);
      long seen = 0;
      for (int i = 0; i < count; i++) {
        seen ^= space.names.touchSlot(hashes.get(from + i));
      }
      for (int i = 0; i < count; i++) {
        touchedKeys[i] = space.names.touchEntry(hashes.get(from + i));
      }
      for (int i = 0; i < count; i++) {
        seen ^= space.table.index.touch(touchedKeys[i]);
      }
      touched = seen;
    }
  }

  /** Asks for where the index has these blocks, or will have them. */
  public void touchKeys(int spaceRef, long[] keys, int count) {
    PrefixIndex index = space(spaceRef).table.index;
    long seen = 0;
    for (int i = 0; i < count; i++) {
      seen ^= index.touch(keys[i]);
    }
    touched = seen;
  }

  /** Goes to a name; whether its meaning is known. */
  public boolean find(int spaceRef, long hash) {
    at(space(spaceRef));
    return names.find(hash);
  }

  /** Where queries find the block. */
  public long key() {
    return names.get(NameTable.KEY);
  }

  /** Adapter, namespace, salt and images of the block, folded. */
  public long context() {
    return contexts.hash(contextRef(names.get(NameTable.WORD)));
  }

  /** Hash of the prefix that ends with the block. */
  public long seqHash() {
    return key() ^ context();
  }

  /** Hash of the block's own tokens, 0 = never told. */
  public long local() {
    return names.get(NameTable.LOCAL);
  }

  /** Engine hash of the block before, 0 = it is the first. */
  public long parent() {
    return names.get(NameTable.PARENT);
  }

  /** Blocks before it, at most {@link #DEEPEST}. */
  public int depth() {
    return depth(names.get(NameTable.WORD));
  }

  static int depth(long word) {
    return (int) (word >>> DEPTH_AT) & DEEPEST;
  }

  /** Whether an event of the device tier said so, or the name itself does. */
  public boolean byDevice() {
    return byDevice(names.get(NameTable.WORD));
  }

  static boolean byDevice(long word) {
    return (word & BY_DEVICE) != 0;
  }

  /** Low bits of a place in the ring, {@link NameRow#NO_PLACE} = it has none. */
  static int place(long word) {
    boolean placed = word >= 0 && (word & COUNTED) == 0 && (word & LOW) != NO_PLACE;
    return placed ? (int) (word & LOW) : NameRow.NO_PLACE;
  }

  /** As rows have it: flags, depth, and the place in the ring while nobody holds it. */
  long word() {
    return names.get(NameTable.WORD);
  }

  /** That of a name whose holders and place are to be filled in. */
  static long word(boolean byDevice, int depth, int contextRef) {
    return (byDevice ? BY_DEVICE : 0) | (long) depth << DEPTH_AT | (long) contextRef << CONTEXT_AT;
  }

  private static int contextRef(long word) {
    return (int) (word >>> CONTEXT_AT) & CONTEXTS - 1;
  }

  /**
   * Says what a name means, and goes to it; whoever holds it has the block under its new key. A new
   * name counts as known only once {@link #setCopies} or {@link #keep} follows, and one of them has
   * to: nothing else would forget it.
   *
   * @return whether it is so now; false = there are too many contexts, or too many hashes that look
   *     alike, which nobody meets by chance; nothing has changed then
   */
  public boolean teach(
      int spaceRef,
      long hash,
      long key,
      long context,
      int depth,
      long local,
      long parent,
      boolean byDevice) {
    Space space = space(spaceRef);
    boolean known = find(spaceRef, hash);
    boolean kept = known && isKept(names.get(NameTable.WORD));
    int ref = contexts.retain(context);
    if (ref == ContextRefs.FULL) {
      return false;
    }
    long meaning = word(byDevice, Math.min(depth, DEEPEST), ref);
    if (!known) {
      if (!names.insert(hash, space.table.index.isHeld(key))) {
        contexts.release(ref);
        return false;
      }
      meaning |= NO_PLACE;
    } else {
      long word = names.get(NameTable.WORD);
      contexts.release(contextRef(word));
      if (word < 0 && key() != key) {
        move(space, set(word), hash, key(), key);
      }
      meaning |= word & (HELD | COUNTED | LOW);
    }
    names.describe(key, meaning, local, parent);
    if (kept) {
      note(true);
    }
    return true;
  }

  private void move(Space space, OwnerSet set, long hash, long from, long to) {
    long[] words = set.words;
    for (int word = 0; word < words.length; word++) {
      for (long left = words[word]; left != 0; left &= left - 1) {
        int slot = word * Long.SIZE + Long.numberOfTrailingZeros(left);
        hide(space, slot, hash, from);
        show(space, slot, hash, to);
      }
    }
  }

  private OwnerSet set(long word) {
    return set(at, word);
  }

  static OwnerSet set(Space space, long word) {
    OwnerSets sets = space.table.index.sets();
    return word < 0 ? sets.get((int) (word & LOW)) : sets.empty();
  }

  /** Whether a holder has the block the name stands for, one certain copy at least. */
  public boolean isHeldBy(Holder holder, int group) {
    int slot = holder.slot(group);
    return slot >= 0 && set(names.get(NameTable.WORD)).contains(slot);
  }

  /** Whether anybody holds it, the dead included whose blocks are not swept yet. */
  public boolean isHeld() {
    return names.get(NameTable.WORD) < 0;
  }

  /**
   * What is known of a holder's copies of the name: certain ones in the upper half, undecided ones
   * in the lower; 0 = none.
   */
  public long copies(Holder holder, int group) {
    long word = names.get(NameTable.WORD);
    if ((word & COUNTED) != 0) {
      long said = counts.of(at.ref, names.get(NameTable.HASH), holderKey(holder, group));
      if (said != RareCounts.PLAIN) {
        return said;
      }
    }
    return isHeldBy(holder, group) ? 1L << 32 : 0;
  }

  private static long holderKey(Holder holder, int group) {
    return (long) holder.id() << 8 | group;
  }

  /**
   * Sets how many copies of the name a holder has.
   *
   * @param groups attention groups of its publisher, a bit each; one bit or none while it uses one
   */
  public void setCopies(Holder holder, int group, long groups, int certain, int undecided) {
    long word = names.get(NameTable.WORD);
    long before = copies(holder, group);
    long after = (long) certain << 32 | undecided;
    if (before == after) {
      keep();
      return;
    }
    boolean existed = isKept(word);
    boolean plain = after == 0 || after == 1L << 32;
    if (!plain || (word & COUNTED) != 0) {
      boolean counted =
          counts.set(
              at.ref,
              names.get(NameTable.HASH),
              holderKey(holder, group),
              plain ? RareCounts.PLAIN : after);
      word = counted ? word | COUNTED : word & ~COUNTED;
      // Whoever may be held is in no ring, or it would never leave it once it is not.
      names.setWord(counted && word >= 0 ? word | NO_PLACE : word);
    }
    holder.addUndecided((certain == 0 && undecided > 0 ? 1 : 0) - (isUndecided(before) ? 1 : 0));
    boolean had = before >>> 32 > 0;
    if (had != certain > 0) {
      flip(holder.slot(group));
      if (holder.isGrouped()) {
        settleWhole(holder, groups);
      }
    }
    holder.usesSpace(at.ref);
    place();
    note(existed);
  }

  /** Whether there is a reason to keep a name; one that was taught just now has none yet. */
  private static boolean isKept(long word) {
    return word < 0 || (word & LOW) != NO_PLACE || (word & COUNTED) != 0;
  }

  static boolean isUndecided(long copies) {
    return copies >>> 32 == 0 && copies != 0;
  }

  private void settleWhole(Holder holder, long groups) {
    OwnerSet set = set(names.get(NameTable.WORD));
    if (set.contains(holder.visible()) != holder.isWhole(set, groups)) {
      flip(holder.visible());
    }
    // A bit that waits to be swept must not hold a name whose blocks are gone.
    for (int former : holder.former()) {
      if (set.contains(former)) {
        flip(former);
      }
    }
  }

  /** Adds a slot to the name's owner set or takes it out, and in the index. */
  private void flip(int slot) {
    OwnerSets sets = at.table.index.sets();
    long word = names.get(NameTable.WORD);
    OwnerSet from = set(word);
    OwnerSet to = sets.flip(from, slot);
    if (to.id == OwnerSets.EMPTY) {
      names.setWord(word & ~(HELD | LOW) | NO_PLACE);
    } else {
      if (to.id >= NO_PLACE) {
        throw new IllegalStateException("too many different owner sets in one table: " + to.id);
      }
      sets.retain(to);
      names.setWord(word & ~LOW | HELD | to.id);
    }
    sets.release(from);
    long hash = names.get(NameTable.HASH);
    if (from.contains(slot)) {
      hide(at, slot, hash, key());
    } else {
      show(at, slot, hash, key());
    }
  }

  private void show(Space space, int slot, long hash, long key) {
    PrefixIndex index = space.table.index;
    long name = nameKey(space, hash, key);
    if (name != key && !index.setFurther(name, slot, true)) {
      addAlias(space.table, slot, name);
    }
    if (!index.add(key, slot)) {
      addAlias(space.table, slot, key);
    }
  }

  private void hide(Space space, int slot, long hash, long key) {
    PrefixIndex index = space.table.index;
    long name = nameKey(space, hash, key);
    if (name != key && !wasAlias(space.table, slot, name)) {
      index.setFurther(name, slot, false);
    }
    if (!wasAlias(space.table, slot, key)) {
      index.remove(key, slot);
    }
  }

  void addAlias(Table table, int slot, long key) {
    aliases.set(table.ref, key, slot, Math.max(0, aliases.of(table.ref, key, slot)) + 1);
  }

  /** Whether it has the key by another name still. */
  private boolean wasAlias(Table table, int slot, long key) {
    long more = aliases.of(table.ref, key, slot);
    if (more == RareCounts.PLAIN) {
      return false;
    }
    aliases.set(table.ref, key, slot, more == 1 ? RareCounts.PLAIN : more - 1);
    return true;
  }

  /** Where queries by hashes look for a block, see {@link #addSpace}. */
  static long nameKey(Space space, long hash, long key) {
    return space.byName ? hash ^ space.nameContext : key;
  }

  /** Keeps a name nobody holds as long as names that nobody holds any more. */
  public void keep() {
    long word = names.get(NameTable.WORD);
    if (!isKept(word)) {
      place();
      note(false);
    }
  }

  /** Gives a name its place in the ring if nobody holds it, not even perhaps. */
  private void place() {
    long word = names.get(NameTable.WORD);
    if (!isKept(word)) {
      if ((ring.tail() & LOW) == NO_PLACE) {
        ring.add(-1, 0); // the one value that says there is none
      }
      long place = ring.add(at.ref, names.get(NameTable.HASH));
      names.setWord(word & ~LOW | place & LOW);
    }
  }

  private void note(boolean existed) {
    note(existed, true);
  }

  private void note(boolean existed, boolean exists) {
    if (!journal.isKept()) {
      return;
    }
    long word = names.get(NameTable.WORD);
    long hash = names.get(NameTable.HASH);
    journal.add(
        at.ref,
        hash,
        names.get(NameTable.KEY),
        contexts.hash(contextRef(word)),
        word,
        names.get(NameTable.LOCAL),
        names.get(NameTable.PARENT),
        existed,
        exists,
        word < 0 ? set(word) : null,
        (word & COUNTED) != 0 ? counts.of(at.ref, hash) : null);
  }

  // ------------------------------------------------------------------- what nobody holds

  /** Forgets names that are further back in the ring than the bound. */
  public void trim(int bound) {
    for (long end = ring.tail() - bound; ring.head() < end; ) {
      int count = (int) Math.min(TOUCHED, end - ring.head());
      touchFirst(count);
      for (int i = 0; i < count; i++) {
        forgetFirst();
      }
    }
  }

  private void touchFirst(int count) {
    long seen = 0;
    for (long place = ring.head(); place < ring.head() + count; place++) {
      seen ^=
          ring.space(place) < 0 ? 0 : space(ring.space(place)).names.touchSlot(ring.hash(place));
    }
    for (long place = ring.head(); place < ring.head() + count; place++) {
      seen ^=
          ring.space(place) < 0 ? 0 : space(ring.space(place)).names.touchEntry(ring.hash(place));
    }
    touched = seen;
  }

  private void forgetFirst() {
    long place = ring.head();
    int ref = ring.space(place);
    if (ref >= 0 && find(ref, ring.hash(place))) {
      long word = names.get(NameTable.WORD);
      if (place(word) == (place & LOW)) {
        note(true, false);
        contexts.release(contextRef(word));
        names.remove();
      }
    }
    ring.removeFirst();
  }

  /**
   * Takes blocks of the dead out, some hundred names at a time. How far it comes depends on how
   * often it is called and on nothing else: once a record.
   *
   * @param gone told of holders none of whose blocks is left
   */
  public void sweep(Consumer<Holder> gone) {
    for (Table table : tables) {
      if (table == null || table.dying.isEmpty() && table.swept.isEmpty()) {
        continue;
      }
      if (table.swept.isEmpty()) {
        begin(table);
      }
      // Where many have died more is done at a time, so that they do not become ever more.
      int steps = 1 + (table.swept.size() + table.dying.size()) / 8;
      for (int i = 0; i < steps && !table.swept.isEmpty(); i++) {
        step(table, gone);
      }
    }
  }

  private void begin(Table table) {
    table.swept = List.copyOf(table.dying);
    table.dying.clear();
    long size = 0;
    for (int ref : table.spaces) {
      size += space(ref).names.size();
    }
    table.sweepBits = 1;
    while (size >>> table.sweepBits > SWEPT_AT_ONCE) {
      table.sweepBits++;
    }
    table.sweptTo = 0;
    setSweptBits(table);
  }

  static void setSweptBits(Table table) {
    BitSet bits = new BitSet();
    table.swept.forEach(bits::set);
    table.sweptBits = bits.toLongArray();
  }

  private void step(Table table, Consumer<Holder> gone) {
    for (int ref : table.spaces) {
      for (long hash : space(ref).names.range(table.sweptTo, table.sweepBits, () -> true)) {
        find(ref, hash);
        takeOut(table);
      }
    }
    if (++table.sweptTo == 1 << table.sweepBits) {
      end(table, gone);
    }
  }

  private void takeOut(Table table) {
    long before = names.get(NameTable.WORD);
    OwnerSet set = set(before);
    for (int i = 0; i < Math.min(set.words.length, table.sweptBits.length); i++) {
      for (long left = set.words[i] & table.sweptBits[i]; left != 0; left &= left - 1) {
        flip(i * Long.SIZE + Long.numberOfTrailingZeros(left));
      }
    }
    if ((before & COUNTED) != 0) {
      forgetCounts(table);
    }
    place();
    // A row that names dead owners beside others is as good as one that does not.
    if (names.get(NameTable.WORD) >= 0 && names.get(NameTable.WORD) != before) {
      note(true);
    }
  }

  private void forgetCounts(Table table) {
    long hash = names.get(NameTable.HASH);
    boolean left = true;
    for (int slot : table.swept) {
      Holder holder = table.bySlot[slot];
      if (holder != null && holder.isDead()) {
        int group = holder.isGrouped() ? holder.groupOf(slot) : -1;
        for (int g = Math.max(0, group); left && g < (holder.isGrouped() ? group + 1 : 64); g++) {
          left = counts.set(at.ref, hash, holderKey(holder, g), RareCounts.PLAIN);
        }
      }
    }
    if (!left) {
      names.setWord(names.get(NameTable.WORD) & ~COUNTED);
    }
  }

  private void end(Table table, Consumer<Holder> gone) {
    List<Integer> swept = table.swept;
    table.swept = List.of();
    table.done.addAll(swept);
    if (!journal.isKept()) {
      table.free();
    }
    for (int slot : swept) {
      Holder holder = table.bySlot[slot];
      table.bySlot[slot] = null;
      table.numbers[slot] = NOBODY;
      if (holder == null) {
        continue;
      }
      holder.removeFormer(slot);
      if (holder.isDead() && holder.visible() == slot) {
        gone.accept(holder);
      }
    }
  }

  // ------------------------------------------------------------------- all of a holder

  /** Takes the hash of a block. */
  @FunctionalInterface
  public interface Taker {
    /** The name is at the block; it may be changed, but nothing else. */
    void take(int space, long hash);
  }

  /** Goes to each name a holder has certain copies of, one space after the other. */
  public void forEach(Holder holder, int group, Taker taker) {
    int slot = holder.slot(group);
    if (slot < 0) {
      return;
    }
    for (int i = 0; i < holder.spaceCount(); i++) {
      int ref = holder.space(i);
      Space space = space(ref);
      // In an order that does not depend on how they came: what follows may.
      for (long hash : space.names.range(0, 0, () -> isHeld(space, slot))) {
        find(ref, hash);
        taker.take(ref, hash);
      }
    }
  }

  private static boolean isHeld(Space space, int slot) {
    return set(space, space.names.get(NameTable.WORD)).contains(slot);
  }

  // ------------------------------------------------------------------- after a restart

  /**
   * Takes up again what a journal told of blocks when it was swapped out. These ones have the same
   * tables, spaces and holders by now, and no names yet; what was done to the holders since they
   * were added is replaced by what it tells.
   *
   * @param state {@link Journal#state} of the last checkpoint
   * @throws MalformedRecordException if it is not of these
   */
  public Restoring restore(byte[] state) {
    return new Restoring(this, spaces.length, BlocksState.restore(this, state));
  }

  /** Tables there are, lowest first. */
  List<Integer> tables() {
    List<Integer> refs = new ArrayList<>();
    for (int ref = 0; ref < tables.length; ref++) {
      if (tables[ref] != null) {
        refs.add(ref);
      }
    }
    return refs;
  }

  boolean hasSpace(int ref) {
    return spaces[ref] != null;
  }

  // ------------------------------------------------------------------- figures

  /** Names whose meaning is known. */
  public long names() {
    long sum = 0;
    for (Space space : spaces) {
      sum += space == null ? 0 : space.names.size();
    }
    return sum;
  }

  /** Heap that names take, in bytes. */
  public long bytes() {
    long sum = 0;
    for (Space space : spaces) {
      sum += space == null ? 0 : space.names.bytes();
    }
    return sum + contents.bytes();
  }

  /** Blocks that holders have by more than one name. */
  int aliases() {
    return aliases.size();
  }
}
