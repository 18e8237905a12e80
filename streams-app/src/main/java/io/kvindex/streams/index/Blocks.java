// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.event.Hashes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private static final int CONTEXT_AT = 25;
  private static final int CONTEXTS = 1 << DEPTH_AT - CONTEXT_AT;

  /** Owner set of a name that is held, else its place in the ring. */
  static final long LOW = (1L << CONTEXT_AT) - 1;

  /** Low bits of a name that is neither held nor in the ring. */
  private static final long NO_PLACE = LOW;

  /** The most unheld names that can be kept. */
  public static final int MOST_UNHELD = (int) (LOW >>> 1);

  /** Names looked through for one step of sweeping, about. */
  private static final int SWEPT_AT_ONCE = 256;

  /** A table's index, and whose bits are in it. */
  private static final class Table {
    final PrefixIndex index;
    @Nullable Holder[] bySlot = new Holder[16];
    final List<Integer> spaces = new ArrayList<>();

    /** Slots of the dead that wait for the next round of sweeping. */
    final List<Integer> dying = new ArrayList<>();

    /** Those of the round under way; empty = there is none. */
    List<Integer> swept = List.of();

    /** Swept to the end, but the journal may have last states of names with their bits. */
    final List<Integer> clean = new ArrayList<>();

    long[] sweptBits = {};
    int sweptTo;
    int sweepBits;

    Table(Epochs epochs) {
      index = new PrefixIndex(epochs);
    }
  }

  /** Names that mean the same for whoever looks them up in it. */
  private record Space(int ref, Table table, NameTable names, boolean byName, long nameContext) {}

  /**
   * A slot that has a key by more than one name: one prefix under several engine hashes, or one
   * engine hash in two spaces.
   */
  private static final class Alias {
    private Table table;
    private int slot;
    private long key;

    Alias(Table table, int slot, long key) {
      this.table = table;
      this.slot = slot;
      this.key = key;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Alias alias
          && alias.table == table
          && alias.slot == slot
          && alias.key == key;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(NameTable.mix(key) + slot);
    }
  }

  private final Epochs epochs;
  final ContextRefs contexts;
  final CopyCounts counts = new CopyCounts();
  final UnheldRing ring = new UnheldRing();

  /** By how many names more than one. */
  private final Map<Alias, Integer> aliases = new HashMap<>();

  /** What is looked for among them: used again, as each removal looks. */
  private @Nullable Alias probe;

  private @Nullable Table[] tables = new Table[4];
  private @Nullable Space[] spaces = new Space[8];
  private Journal journal;
  private long operations;

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
   * Goes on with another journal; the one so far is the caller's. Slots whose blocks were all taken
   * out meanwhile are used again from here on and not before: names that stayed held when a bit was
   * taken out are not noted for it, so the last states in the journal may have the bit still.
   */
  public Journal swap(Journal next) {
    Journal full = journal;
    journal = next;
    for (Table table : tables) {
      if (table != null) {
        table.clean.forEach(table.index::freeOwner);
        table.clean.clear();
      }
    }
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
    Table table = new Table(epochs);
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
    spaces[ref] = new Space(ref, table, new NameTable(), byName, nameContext);
    table.spaces.add(ref);
  }

  private Table table(int ref) {
    Table table = ref < tables.length ? tables[ref] : null;
    if (table == null) {
      throw new IllegalStateException("BUG: no table " + ref);
    }
    return table;
  }

  private Space space(int ref) {
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
    own(table, holder.visible(), holder);
    return holder;
  }

  private static void own(Table table, int slot, Holder holder) {
    if (slot >= table.bySlot.length) {
      table.bySlot = Arrays.copyOf(table.bySlot, Math.max(slot + 1, 2 * table.bySlot.length));
    }
    table.bySlot[slot] = holder;
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
    own(table, visible, holder);
    if (holder.slot(group) < 0) {
      int slot = table.index.addOwner(holder.owner());
      table.index.retireOwner(slot);
      holder.setSlot(group, slot);
      own(table, slot, holder);
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

  /** Asks the memory for names about to be looked up. */
  public void touch(int spaceRef, Hashes hashes, int from, int to) {
    space(spaceRef).names.touch(hashes, from, to);
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
    return (int) (names.get(NameTable.WORD) >>> DEPTH_AT) & DEEPEST;
  }

  /** Whether an event of the device tier said so, or the name itself does. */
  public boolean byDevice() {
    return (names.get(NameTable.WORD) & BY_DEVICE) != 0;
  }

  /** As rows have it: flags, depth, and the place in the ring while nobody holds it. */
  long word() {
    return names.get(NameTable.WORD);
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
    int ref = contexts.retain(context);
    if (ref == ContextRefs.FULL) {
      return false;
    }
    long meaning =
        (byDevice ? BY_DEVICE : 0)
            | (long) Math.min(depth, DEEPEST) << DEPTH_AT
            | (long) ref << CONTEXT_AT;
    boolean existed = false;
    if (!known) {
      if (!names.insert(hash)) {
        contexts.release(ref);
        return false;
      }
      names.set(NameTable.WORD, meaning | NO_PLACE);
    } else {
      existed = exists();
      long word = names.get(NameTable.WORD);
      contexts.release(contextRef(word));
      if (word < 0 && key() != key) {
        move(space, set(word), hash, key(), key);
      }
      names.set(NameTable.WORD, word & (HELD | COUNTED | LOW) | meaning);
    }
    names.set(NameTable.KEY, key);
    names.set(NameTable.LOCAL, local);
    names.set(NameTable.PARENT, parent);
    if (existed) {
      note(true);
    }
    return true;
  }

  /** Whether the name is more than taught just now: held, perhaps held, or in the ring. */
  private boolean exists() {
    long word = names.get(NameTable.WORD);
    return (word & (HELD | COUNTED)) != 0 || (word & LOW) != NO_PLACE;
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
    return word < 0 ? at.table.index.sets().get((int) (word & LOW)) : at.table.index.sets().empty();
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
      if (said != CopyCounts.PLAIN) {
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
    boolean existed = exists();
    boolean plain = after == 0 || after == 1L << 32;
    if (!plain || (word & COUNTED) != 0) {
      boolean counted =
          counts.set(
              at.ref,
              names.get(NameTable.HASH),
              holderKey(holder, group),
              plain ? CopyCounts.PLAIN : after);
      if (counted && word >= 0) {
        word |= NO_PLACE; // perhaps held: not in the ring any more
      }
      names.set(NameTable.WORD, counted ? word | COUNTED : word & ~COUNTED);
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

  private static boolean isUndecided(long copies) {
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
      names.set(NameTable.WORD, word & ~(HELD | LOW) | NO_PLACE);
    } else {
      if (to.id >= NO_PLACE) {
        throw new IllegalStateException("too many different owner sets in one table: " + to.id);
      }
      sets.retain(to);
      names.set(NameTable.WORD, word & ~LOW | HELD | to.id);
    }
    if (from.id != OwnerSets.EMPTY) {
      sets.release(from);
    }
    long hash = names.get(NameTable.HASH);
    if (from.contains(slot)) {
      hide(at, slot, hash, key());
    } else {
      show(at, slot, hash, key());
    }
    operations++;
  }

  private void show(Space space, int slot, long hash, long key) {
    PrefixIndex index = space.table.index;
    long name = nameKey(space, hash, key);
    if (name != key && !index.addFurther(name, slot)) {
      aliases.merge(new Alias(space.table, slot, name), 1, Integer::sum);
    }
    if (!index.add(key, slot)) {
      aliases.merge(new Alias(space.table, slot, key), 1, Integer::sum);
    }
  }

  private void hide(Space space, int slot, long hash, long key) {
    PrefixIndex index = space.table.index;
    long name = nameKey(space, hash, key);
    if (name != key && !wasAlias(space.table, slot, name)) {
      index.removeFurther(name, slot);
    }
    if (!wasAlias(space.table, slot, key)) {
      index.remove(key, slot);
    }
  }

  /** Whether it has the key by another name still. */
  private boolean wasAlias(Table table, int slot, long key) {
    if (aliases.isEmpty()) {
      return false;
    }
    Alias alias = probe == null ? new Alias(table, slot, key) : probe;
    alias.table = table;
    alias.slot = slot;
    alias.key = key;
    probe = alias;
    Integer more = aliases.get(alias);
    if (more == null) {
      return false;
    }
    if (more == 1) {
      aliases.remove(alias);
    } else {
      aliases.replace(alias, more - 1); // the key that is there stays
    }
    return true;
  }

  /** Where queries by hashes look for a block, see {@link #addSpace}. */
  private static long nameKey(Space space, long hash, long key) {
    return space.byName ? hash ^ space.nameContext : key;
  }

  /** Keeps a name nobody holds as long as names that nobody holds any more. */
  public void keep() {
    if (!exists()) {
      place();
      note(false);
    }
  }

  /** Gives a name its place in the ring if nobody holds it, not even perhaps. */
  private void place() {
    long word = names.get(NameTable.WORD);
    if (word >= 0 && (word & COUNTED) == 0 && (word & LOW) == NO_PLACE) {
      if ((ring.tail() & LOW) == NO_PLACE) {
        ring.add(-1, 0); // the one value that says there is none
      }
      long place = ring.add(at.ref, names.get(NameTable.HASH));
      names.set(NameTable.WORD, word & ~LOW | place & LOW);
    }
  }

  private void note(boolean existed) {
    note(existed, true);
  }

  private void note(boolean existed, boolean exists) {
    int change = journal.add();
    Journal.Piece piece = journal.last();
    long word = names.get(NameTable.WORD);
    long hash = names.get(NameTable.HASH);
    piece.existed[change] = (byte) ((existed ? Journal.BEFORE : 0) | (exists ? Journal.AFTER : 0));
    piece.space[change] = at.ref;
    piece.hash[change] = hash;
    piece.key[change] = names.get(NameTable.KEY);
    piece.context[change] = contexts.hash(contextRef(word));
    piece.word[change] = word;
    piece.local[change] = names.get(NameTable.LOCAL);
    piece.parent[change] = names.get(NameTable.PARENT);
    piece.set[change] = word < 0 ? set(word) : null;
    piece.counts[change] = (word & COUNTED) != 0 ? counts.of(at.ref, hash) : null;
  }

  // ------------------------------------------------------------------- what nobody holds

  /** Forgets names that are further back in the ring than the bound. */
  public void trim(int bound) {
    while (ring.tail() - ring.head() > bound) {
      int ref = ring.space();
      if (ref >= 0 && find(ref, ring.hash())) {
        long word = names.get(NameTable.WORD);
        if (word >= 0 && (word & COUNTED) == 0 && (word & LOW) == (ring.head() & LOW)) {
          note(true, false);
          contexts.release(contextRef(word));
          names.remove();
        }
      }
      ring.removeFirst();
    }
  }

  /** Whether dead owners have blocks that are not taken out yet. */
  public boolean isToSweep() {
    for (Table table : tables) {
      if (table != null && !(table.dying.isEmpty() && table.swept.isEmpty())) {
        return true;
      }
    }
    return false;
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

  private static void setSweptBits(Table table) {
    int highest = table.swept.stream().mapToInt(slot -> slot).max().orElse(0);
    table.sweptBits = new long[(highest >>> 6) + 1];
    for (int slot : table.swept) {
      table.sweptBits[slot >>> 6] |= 1L << slot;
    }
  }

  private void step(Table table, Consumer<Holder> gone) {
    for (int ref : table.spaces) {
      long[] hashes = space(ref).names.range(table.sweptTo, table.sweepBits);
      for (int i = 0; hashes != null && i < hashes.length; i++) {
        find(ref, hashes[i]);
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
          left = counts.set(at.ref, hash, holderKey(holder, g), CopyCounts.PLAIN);
        }
      }
    }
    if (!left) {
      names.set(NameTable.WORD, names.get(NameTable.WORD) & ~COUNTED);
    }
  }

  private static void end(Table table, Consumer<Holder> gone) {
    List<Integer> done = table.swept;
    table.swept = List.of();
    for (int slot : done) {
      Holder holder = table.bySlot[slot];
      table.bySlot[slot] = null;
      table.clean.add(slot);
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
      long[] held = held(space, slot);
      for (long hash : held) {
        find(ref, hash);
        taker.take(ref, hash);
      }
    }
  }

  private long[] held(Space space, int slot) {
    long[][] found = {new long[64]};
    int[] count = {0};
    at(space);
    names.forEach(
        () -> {
          if (set(names.get(NameTable.WORD)).contains(slot)) {
            if (count[0] == found[0].length) {
              found[0] = Arrays.copyOf(found[0], 2 * count[0]);
            }
            found[0][count[0]++] = NameTable.mix(names.get(NameTable.HASH));
          }
        });
    long[] hashes = Arrays.copyOf(found[0], count[0]);
    // In an order that is that of the hashes, not of how they came: what follows may depend on it.
    Arrays.sort(hashes);
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = NameTable.unmix(hashes[i]);
    }
    return hashes;
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
    return sum;
  }

  /** Blocks a holder has by more than one name. */
  int aliases() {
    return aliases.size();
  }

  /** How often a holder got or lost a block. */
  public long operations() {
    return operations;
  }
}
