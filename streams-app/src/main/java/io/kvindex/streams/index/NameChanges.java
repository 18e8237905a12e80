// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;

/**
 * What a complete {@link Journal} comes to: each name that is not what it was before, once, as it
 * is now. In the order of spaces and {@link NameTable#mix mixed} hashes, in which tables are filled
 * fastest.
 */
public final class NameChanges {

  /** Of an entry, below the change's number: what the journal says of it. */
  private static final int NUMBER_AT = 2;

  private static final int BEFORE = Journal.BEFORE;
  private static final int AFTER = Journal.AFTER;

  /** So many changes before it is told one is asked for: it is elsewhere in memory. */
  private static final int AHEAD = 8;

  private final Journal journal;

  /**
   * Upper bits of a change's mixed hash, its number, and whether the name was there before it and
   * after: nobody has to go to the change itself for that. First all, then the {@link #count} that
   * are left.
   */
  private final long[] order;

  /** The number and what stands below it. */
  private final long numberMask;

  private int count;
  private long grown;
  private int told;

  /** Written so that what is only asked for is not left out. */
  private long touched;

  /**
   * Nets it; the journal is not released before this is done with.
   *
   * @param journal one that was swapped out
   */
  public NameChanges(Journal journal) {
    this.journal = journal;
    int size = journal.size();
    numberMask = (Long.highestOneBit(Math.max(1, size - 1)) << NUMBER_AT + 1) - 1;
    order = new long[size];
    int[] ends = sortBySpace();
    for (int space = 0, from = 0; space < ends.length; from = ends[space++]) {
      // Unsigned: by the upper bits of the mixed hash, then as they came.
      Arrays.sort(order, from, ends[space]);
      for (int k = from + 1; k < ends[space]; k++) {
        sinkIfNeeded(k, from);
      }
      net(from, ends[space]);
    }
  }

  /** Puts changes of a space side by side; where each space's end. */
  private int[] sortBySpace() {
    int size = order.length;
    int[] next = new int[journal.spaces() + 1];
    for (int change = 0; change < size; change++) {
      next[journal.space(change) + 1]++;
    }
    for (int space = 1; space < next.length; space++) {
      next[space] += next[space - 1];
    }
    for (int change = 0; change < size; change++) {
      long mixed = NameTable.mix(journal.get(change, Journal.HASH)) ^ Long.MIN_VALUE;
      long is = (journal.existed(change) ? BEFORE : 0) | (journal.exists(change) ? AFTER : 0);
      order[next[journal.space(change)]++] = mixed & ~numberMask | (long) change << NUMBER_AT | is;
    }
    return Arrays.copyOf(next, next.length - 1);
  }

  /** Those whose upper bits are the same by chance are put in order. */
  private void sinkIfNeeded(int from, int first) {
    for (int k = from; k > first && isSwapped(order[k - 1], order[k]); k--) {
      long lower = order[k];
      order[k] = order[k - 1];
      order[k - 1] = lower;
    }
  }

  private boolean isSwapped(long left, long right) {
    return (left & ~numberMask) == (right & ~numberMask)
        && Long.compareUnsigned(mixed(left), mixed(right)) > 0;
  }

  private long hash(long entry) {
    return journal.get(changeOf(entry), Journal.HASH);
  }

  private long mixed(long entry) {
    return NameTable.mix(hash(entry));
  }

  private int changeOf(long entry) {
    return (int) ((entry & numberMask) >>> NUMBER_AT);
  }

  /** Keeps the last change of each name, and none of one that came and went. */
  private void net(int from, int to) {
    for (int first = from; first < to; ) {
      int last = first;
      while (last + 1 < to
          && (order[last + 1] ^ order[first]) <= numberMask
          && (order[last + 1] ^ order[first]) >= 0
          && hash(order[last + 1]) == hash(order[first])) {
        last++;
      }
      boolean before = (order[first] & BEFORE) != 0;
      boolean after = (order[last] & AFTER) != 0;
      grown += (after ? 1 : 0) - (before ? 1 : 0);
      if (before || after) {
        order[count++] = order[last];
      }
      first = last + 1;
    }
  }

  /** How many names are not what they were. */
  public int count() {
    return count;
  }

  /** How many names there are more than before, negative = less. */
  public long grown() {
    return grown;
  }

  /** Has a row say what the next name is; false = there are no more. */
  public boolean next(NameRow row) {
    if (told == count) {
      return false;
    }
    int change = changeOf(order[told++]);
    if (told + AHEAD < count) {
      touched = journal.touch(changeOf(order[told + AHEAD]));
    }
    long word = journal.get(change, Journal.WORD);
    OwnerSet set = journal.set(change);
    long[] counts = journal.counts(change);
    row.clearHolders();
    row.exists = (order[told - 1] & AFTER) != 0;
    row.space = journal.space(change);
    row.hash = journal.get(change, Journal.HASH);
    row.key = journal.get(change, Journal.KEY);
    row.context = journal.get(change, Journal.CONTEXT);
    row.depth = Blocks.depth(word);
    row.byDevice = Blocks.byDevice(word);
    row.local = journal.get(change, Journal.LOCAL);
    row.parent = journal.get(change, Journal.PARENT);
    row.place = Blocks.place(word);
    if (set != null) {
      holders(set, row);
    }
    if (counts != null) {
      row.counts = counts;
    }
    return true;
  }

  private void holders(OwnerSet set, NameRow row) {
    for (int word = 0; word < set.words.length; word++) {
      for (long left = set.words[word]; left != 0; left &= left - 1) {
        int slot = word * Long.SIZE + Long.numberOfTrailingZeros(left);
        long number = journal.numberOf(row.space, slot);
        if (number != Blocks.NOBODY) {
          row.addHolder(number);
        }
      }
    }
    if (row.holders > 1) {
      Arrays.sort(row.holder, 0, row.holders);
    }
  }
}
