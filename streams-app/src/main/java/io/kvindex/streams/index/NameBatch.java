// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Names as rows tell them, some thousands at a time: filled by the thread that reads rows, inserted
 * by the one that owns the table, see {@link Restoring}. To be used again.
 */
public final class NameBatch implements NameSink {

  /** Names it takes. */
  public static final int SIZE = 2048;

  static final int NO_PLACE = -1;
  static final int NO_SLOT = -1;

  private final Restoring into;
  final int[] space = new int[SIZE];
  final long[] hash = new long[SIZE];
  final long[] key = new long[SIZE];
  final long[] context = new long[SIZE];
  final int[] depth = new int[SIZE];
  final boolean[] byDevice = new boolean[SIZE];
  final long[] local = new long[SIZE];
  final long[] parent = new long[SIZE];
  final int[] place = new int[SIZE];

  /**
   * The only slot that holds it, {@link #NO_SLOT} = there are none, or several in {@link #bits}.
   */
  final int[] slot = new int[SIZE];

  final long[] @Nullable [] bits = new long[SIZE][];
  final long[] @Nullable [] counts = new long[SIZE][];
  private int size;
  private @Nullable RestoredTable table;
  private long mixed;

  NameBatch(Restoring into) {
    this.into = into;
  }

  /** Names it has. */
  public int size() {
    return size;
  }

  /** Whether there is no room for another. */
  public boolean isFull() {
    return size == SIZE;
  }

  /** Forgets all. */
  public void clear() {
    Arrays.fill(bits, 0, size, null);
    Arrays.fill(counts, 0, size, null);
    size = 0;
  }

  /**
   * One more name, which the other methods go on about. What the parameters are: {@link
   * Blocks#teach}.
   *
   * @param mixed its hash as {@link NameChanges#mixed} tells it
   * @throws io.kvindex.model.event.MalformedRecordException if there is no such space
   */
  public void add(
      int spaceRef,
      long mixed,
      long lookupKey,
      long contextHash,
      int blocksBefore,
      boolean surely,
      long localHash,
      long parentHash) {
    table = into.ofSpace(spaceRef);
    this.mixed = mixed;
    int at = size++;
    space[at] = spaceRef;
    hash[at] = NameTable.unmix(mixed);
    key[at] = lookupKey;
    context[at] = contextHash;
    depth[at] = blocksBefore;
    byDevice[at] = surely;
    local[at] = localHash;
    parent[at] = parentHash;
    place[at] = NO_PLACE;
    slot[at] = NO_SLOT;
  }

  /** Where in the ring it is, see {@link NameChanges#place}. */
  public void place(int inRing) {
    place[size - 1] = inRing;
  }

  /** Somebody holds it, see {@link NameChanges#holder}; nothing happens if that one is gone. */
  public void holder(long number) {
    int of = table().slotOf(number, mixed);
    if (of < 0) {
      return;
    }
    int at = size - 1;
    long[] some = bits[at];
    if (some == null && slot[at] == NO_SLOT) {
      slot[at] = of;
      return;
    }
    if (some == null) {
      some = with(new long[0], slot[at]);
      slot[at] = NO_SLOT;
    }
    bits[at] = with(some, of);
  }

  private static long[] with(long[] words, int slot) {
    long[] wide = slot >>> 6 < words.length ? words : Arrays.copyOf(words, (slot >>> 6) + 1);
    wide[slot >>> 6] |= 1L << slot;
    return wide;
  }

  /**
   * How many copies a holder has, see {@link NameChanges#countOf} and {@link NameChanges#copies};
   * nothing happens if that one is gone.
   */
  public void copies(long of, long number) {
    if (!table().counts((int) (of >>> 8), mixed)) {
      return;
    }
    int at = size - 1;
    long[] some = counts[at];
    int length = some == null ? 0 : some.length;
    long[] more = some == null ? new long[2] : Arrays.copyOf(some, length + 2);
    more[length] = of;
    more[length + 1] = number;
    counts[at] = more;
  }

  private RestoredTable table() {
    RestoredTable of = table;
    if (of == null) {
      throw new IllegalStateException("BUG: no name was added");
    }
    return of;
  }
}
