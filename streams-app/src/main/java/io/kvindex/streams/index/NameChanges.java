// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a complete {@link Journal} comes to: each name that is not what it was before, once, as it
 * is now. In the order of spaces and {@link #mixed} hashes, in which tables are filled fastest. A
 * cursor: {@link #next} goes to a name, which the other methods are about.
 */
public final class NameChanges {

  private final Journal journal;

  /** Numbers of changes, the first {@link #count} of them; the upper bits are no part of it. */
  private final long[] order;

  private final long numberMask;
  private int count;
  private long grown;
  private int at = -1;

  /** The change it is at. */
  private int change;

  private long[] holders = new long[8];
  private int holderCount;
  private long @Nullable [] copies;

  /**
   * Nets it; the journal is not released before this is done with.
   *
   * @param journal one that was swapped out
   */
  public NameChanges(Journal journal) {
    this.journal = journal;
    int size = journal.size();
    numberMask = (Long.highestOneBit(Math.max(1, size - 1)) << 1) - 1;
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
      order[next[journal.space(change)]++] = mixed & ~numberMask | change;
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
    return (int) (entry & numberMask);
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
      boolean before = journal.existed(changeOf(order[first]));
      boolean after = journal.exists(changeOf(order[last]));
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

  /** Goes to the next name; false = there are no more. */
  public boolean next() {
    if (++at >= count) {
      return false;
    }
    change = changeOf(order[at]);
    return true;
  }

  /** Whether it is still there; of one that is not, only space and hash say something. */
  public boolean exists() {
    return journal.exists(change);
  }

  /** See {@link Blocks#addSpace}. */
  public int space() {
    return journal.space(change);
  }

  /** Its engine hash. */
  public long hash() {
    return journal.get(change, Journal.HASH);
  }

  /** Its hash as memory has it in order; unsigned. */
  public long mixed() {
    return NameTable.mix(journal.get(change, Journal.HASH));
  }

  /** The hash that {@link #mixed} was made of. */
  public static long hashOf(long mixed) {
    return NameTable.unmix(mixed);
  }

  /** See {@link Blocks#key}. */
  public long key() {
    return journal.get(change, Journal.KEY);
  }

  /** See {@link Blocks#context}. */
  public long context() {
    return journal.get(change, Journal.CONTEXT);
  }

  /** See {@link Blocks#depth}. */
  public int depth() {
    return Blocks.depth(journal.get(change, Journal.WORD));
  }

  /** See {@link Blocks#byDevice}. */
  public boolean byDevice() {
    return Blocks.byDevice(journal.get(change, Journal.WORD));
  }

  /** See {@link Blocks#local}. */
  public long local() {
    return journal.get(change, Journal.LOCAL);
  }

  /** See {@link Blocks#parent}. */
  public long parent() {
    return journal.get(change, Journal.PARENT);
  }

  /** Where it is in the order of what nobody holds, 25 bits of it; -1 = it is held, or may be. */
  public int place() {
    return Blocks.place(journal.get(change, Journal.WORD));
  }

  /** How many numbers there are of those who hold it; reads them. */
  public int holders() {
    holderCount = 0;
    OwnerSet set = journal.set(change);
    for (int word = 0; set != null && word < set.words.length; word++) {
      for (long left = set.words[word]; left != 0; left &= left - 1) {
        int slot = word * Long.SIZE + Long.numberOfTrailingZeros(left);
        long number = journal.numberOf(space(), slot);
        if (number != Blocks.NOBODY) {
          holders =
              holderCount == holders.length ? Arrays.copyOf(holders, 2 * holderCount) : holders;
          holders[holderCount++] = number;
        }
      }
    }
    if (holderCount > 1) {
      Arrays.sort(holders, 0, holderCount);
    }
    return holderCount;
  }

  /**
   * Who holds it, lowest first: the id of the {@link Holder}, and in the lower 16 bits which of its
   * slots. After {@link #holders}.
   */
  public long holder(int n) {
    return holders[n];
  }

  /** Of how many holders another number of copies is known than a certain one; reads them. */
  public int counts() {
    copies = journal.counts(change);
    return copies == null ? 0 : copies.length / 2;
  }

  /**
   * The id of one of them, and in the lower 8 bits the group. After {@link #counts}, as {@link
   * #copies}.
   */
  public long countOf(int n) {
    return copies == null ? 0 : copies[2 * n];
  }

  /** Certain copies in the upper half, undecided ones in the lower. */
  public long copies(int n) {
    return copies == null ? 0 : copies[2 * n + 1];
  }
}
