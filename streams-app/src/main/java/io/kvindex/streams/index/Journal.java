// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * What has changed since the last checkpoint: the state of each name after each change of it, and
 * rows of dictionaries. Filled by the table's writer, then handed over as a whole to the thread
 * that writes the checkpoint; nobody writes to it any more then.
 */
public final class Journal {

  /** Changes a piece takes: an array that fits well into a region of the collector. */
  static final int PIECE = 1 << 12;

  private static final int PIECE_BITS = 12;

  /** The name was there before the change. */
  static final int BEFORE = 1;

  /** It is there after it. */
  static final int AFTER = 2;

  // A change is eight longs, as much as the memory hands over at a time: whoever writes rows looks
  // at changes in another order than they came in.

  /** The name. */
  static final int HASH = 0;

  /** See {@link Blocks#key}. */
  static final int KEY = 1;

  /** See {@link Blocks#context}. */
  static final int CONTEXT = 2;

  /** See {@link Blocks#word}. */
  static final int WORD = 3;

  /** See {@link Blocks#local}. */
  static final int LOCAL = 4;

  /** See {@link Blocks#parent}. */
  static final int PARENT = 5;

  /** Its space in the upper half, {@link #BEFORE} and {@link #AFTER} in the lower. */
  private static final int WHERE = 6;

  /**
   * Numbers of who holds it (upper half) and of its copies (lower), 0 = none: references would cost
   * a barrier each.
   */
  private static final int WHOSE = 7;

  private static final int WIDTH_BITS = 3;

  /** Pieces to be used again, shared by the journals of a process: some for each of them. */
  public static final class Pieces {
    private static final int KEPT = 128;
    private final Deque<long[]> free = new ArrayDeque<>();

    private synchronized long[] take() {
      long[] known = free.poll();
      return known == null ? new long[PIECE << WIDTH_BITS] : known;
    }

    private synchronized void give(long[] piece) {
      if (free.size() < KEPT) {
        free.add(piece);
      }
    }
  }

  /** Stands for it in owner sets: its memory is not kept by theirs. */
  private final Object mark = new Object();

  private final Pieces pool;
  private final List<long[]> pieces = new ArrayList<>();
  private final Map<Bytes, @Nullable Supplier<byte[]>> rows = new HashMap<>();
  private final boolean kept;
  private final List<OwnerSet> sets = new ArrayList<>();
  private final List<long[]> counts = new ArrayList<>();
  private long[] last;
  private int used = PIECE;
  private byte @Nullable [] state;
  private long[] @Nullable [] numbers = {};

  /**
   * @param pool where its memory comes from
   */
  public Journal(Pieces pool) {
    this(pool, true);
  }

  @SuppressWarnings("NullAway") // last is set before it is used
  private Journal(Pieces pool, boolean kept) {
    this.pool = pool;
    this.kept = kept;
  }

  /** One that forgets at once what it is told: for who writes no checkpoints. */
  public static Journal none() {
    return new Journal(new Pieces(), false);
  }

  /** Whether it keeps what it is told. */
  public boolean isKept() {
    return kept;
  }

  /** How many changes of names it has. */
  public int size() {
    return pieces.isEmpty() ? 0 : (pieces.size() - 1) * PIECE + used;
  }

  /** Whether nothing has changed. */
  public boolean isEmpty() {
    return size() == 0 && rows.isEmpty();
  }

  /** How much it has: changes of names, and rows. */
  public int changes() {
    return size() + rows.size();
  }

  /** A row of a dictionary; null deletes. */
  public void put(Bytes key, byte @Nullable [] value) {
    putLater(key, value == null ? null : () -> value);
  }

  /**
   * The same, for a row that changes often: only the last value of it is asked for its bytes, by
   * the thread that writes the checkpoint.
   */
  public void putLater(Bytes key, @Nullable Supplier<byte[]> value) {
    if (kept) {
      rows.put(key, value);
    }
  }

  /** Rows of dictionaries in the order of their keys, the newest value of each; null deletes. */
  public SortedMap<Bytes, byte @Nullable []> rows() {
    SortedMap<Bytes, byte @Nullable []> sorted = new TreeMap<>();
    rows.forEach((key, value) -> sorted.put(key, value == null ? null : value.get()));
    return sorted;
  }

  /**
   * One more change of a name.
   *
   * @param existed whether it was there before
   * @param exists whether it is there now
   * @param set who holds it, null = nobody
   * @param copies see {@link RareCounts#of}
   */
  void add(
      int space,
      long hash,
      long key,
      long context,
      long word,
      long local,
      long parent,
      boolean existed,
      boolean exists,
      @Nullable OwnerSet set,
      long @Nullable [] copies) {
    if (!kept) {
      return;
    }
    if (used == PIECE) {
      last = pool.take();
      pieces.add(last);
      used = 0;
    }
    long[] piece = last;
    int at = used++ << WIDTH_BITS;
    piece[at] = hash;
    piece[at + KEY] = key;
    piece[at + CONTEXT] = context;
    piece[at + WORD] = word;
    piece[at + LOCAL] = local;
    piece[at + PARENT] = parent;
    piece[at + WHERE] = (long) space << 32 | (existed ? BEFORE : 0) | (exists ? AFTER : 0);
    piece[at + WHOSE] = (long) numberOf(set) << 32 | numberOf(copies);
  }

  private int numberOf(@Nullable OwnerSet set) {
    if (set == null) {
      return 0;
    }
    if (set.notedIn != mark) {
      sets.add(set);
      set.notedIn = mark;
      set.notedAs = sets.size();
    }
    return set.notedAs;
  }

  private int numberOf(long @Nullable [] copies) {
    if (copies == null) {
      return 0;
    }
    counts.add(copies);
    return counts.size();
  }

  /** A field of a change, {@link #HASH} to {@link #PARENT}. */
  long get(int change, int field) {
    return pieces.get(change >>> PIECE_BITS)[((change & PIECE - 1) << WIDTH_BITS) + field];
  }

  /**
   * Asks the memory for a change. Changes nothing.
   *
   * @return to be kept alive, or the load would be left out
   */
  long touch(int change) {
    return get(change, HASH) ^ get(change, WHOSE);
  }

  /** The space of a change. */
  int space(int change) {
    return (int) (get(change, WHERE) >>> 32);
  }

  /** Whether the name was there before a change. */
  boolean existed(int change) {
    return (get(change, WHERE) & BEFORE) != 0;
  }

  /** Whether it was there after it. */
  boolean exists(int change) {
    return (get(change, WHERE) & AFTER) != 0;
  }

  /** Who holds the name after a change, null = nobody. */
  @Nullable OwnerSet set(int change) {
    int number = (int) (get(change, WHOSE) >>> 32);
    return number == 0 ? null : sets.get(number - 1);
  }

  /** Its copies after a change, see {@link RareCounts#of}. */
  long @Nullable [] counts(int change) {
    int number = (int) get(change, WHOSE);
    return number == 0 ? null : counts.get(number - 1);
  }

  /** Nothing is added any more. */
  void complete(byte[] stateOfBlocks, long[] @Nullable [] numbersOfSlots) {
    state = stateOfBlocks;
    numbers = numbersOfSlots;
  }

  /**
   * What {@link Blocks} have that is in no name, for {@link Blocks#restore}.
   *
   * @throws IllegalStateException if it was not swapped out
   */
  public byte[] state() {
    if (state == null) {
      throw new IllegalStateException("the journal is still being written");
    }
    return state;
  }

  /** Spaces changes may be of: all below this one. */
  int spaces() {
    return numbers.length;
  }

  /** What a slot was called in rows when the journal was swapped out. */
  long numberOf(int space, int slot) {
    long[] ofSpace = numbers[space];
    return ofSpace == null || slot >= ofSpace.length ? Blocks.NOBODY : ofSpace[slot];
  }

  /** Its memory may be used again; it is empty. */
  public void release() {
    state = null;
    numbers = new long[0][];
    pieces.forEach(pool::give);
    pieces.clear();
    sets.clear();
    counts.clear();
    rows.clear();
    used = PIECE;
  }
}
