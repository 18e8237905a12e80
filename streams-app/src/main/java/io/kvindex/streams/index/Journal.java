// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * What has changed since the last checkpoint: the state of each name after each change of it, and
 * rows of dictionaries. Filled by the table's writer, then handed over as a whole to the thread
 * that writes the checkpoint; nobody writes to it any more then.
 */
public final class Journal {

  /** Changes a piece takes: arrays that fit well into a region of the collector. */
  static final int PIECE = 1 << 13;

  private static final int PIECE_BITS = 13;

  /** The name was there before the change. */
  static final byte BEFORE = 1;

  /** It is there after it. */
  static final byte AFTER = 2;

  /** Changes of names, field by field. */
  static final class Piece {
    final byte[] existed = new byte[PIECE];
    final int[] space = new int[PIECE];
    final long[] hash = new long[PIECE];
    final long[] key = new long[PIECE];
    final long[] context = new long[PIECE];
    final long[] word = new long[PIECE];
    final long[] local = new long[PIECE];
    final long[] parent = new long[PIECE];
    final @Nullable OwnerSet[] set = new OwnerSet[PIECE];
    final long[] @Nullable [] counts = new long[PIECE][];

    /** Sets and counts are not kept alive by what was written long ago. */
    void clear() {
      java.util.Arrays.fill(set, null);
      java.util.Arrays.fill(counts, null);
    }
  }

  /**
   * Pieces to be used again, shared by the journals of a process; a few, as most come at a time.
   */
  public static final class Pieces {
    private static final int KEPT = 8;
    private final Deque<Piece> free = new ArrayDeque<>();

    private synchronized Piece take() {
      Piece known = free.poll();
      return known == null ? new Piece() : known;
    }

    private synchronized void give(Piece piece) {
      if (free.size() < KEPT) {
        piece.clear();
        free.add(piece);
      }
    }
  }

  private final Pieces pool;
  private final List<Piece> pieces = new ArrayList<>();
  private final Map<Bytes, byte @Nullable []> rows = new LinkedHashMap<>();
  private final boolean kept;
  private Piece last;
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
    if (kept) {
      rows.put(key, value);
    }
  }

  /** Rows of dictionaries, the newest value of each; null deletes. */
  public Map<Bytes, byte @Nullable []> rows() {
    return rows;
  }

  /** Place of one more change in {@link #last}, whose fields the caller fills. */
  int add() {
    if (used == PIECE) {
      last = pool.take();
      pieces.add(last);
      used = 0;
    }
    return kept ? used++ : 0;
  }

  Piece last() {
    return last;
  }

  Piece piece(int change) {
    return pieces.get(change >>> PIECE_BITS);
  }

  static int place(int change) {
    return change & PIECE - 1;
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
    rows.clear();
    used = PIECE;
  }
}
