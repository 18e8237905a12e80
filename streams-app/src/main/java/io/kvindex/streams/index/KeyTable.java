// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Lookup key to owner set id: extendible hashing over small {@link Segment}s, so growing costs one
 * update the copy of one segment (at most 3,840 slots) and never more. Removal leaves no
 * tombstones; a segment that runs empty shrinks by itself.
 *
 * <p>All segments of one size would split at nearly the same time, since keys are spread evenly,
 * and leave the table half empty at once. So the size of a segment depends on the upper three bits
 * of its keys: eight sizes between 1 and 15/8, whose splits fall evenly between two doublings.
 *
 * <p>One writer. Readers take the {@link #directory} once per walk; segments they find in it are
 * current or, if replaced since, unchanging copies of the moment they were replaced at.
 */
final class KeyTable {

  private static final VarHandle SEGMENTS = MethodHandles.arrayElementVarHandle(long[][].class);
  private static final int UNIT_SLOTS = 2048;
  private static final int CLASS_BITS = 3;
  private static final int MAX_DEPTH = 20;
  private static final int ARRAY_HEADER_BYTES = 16;

  private final Gauge keys = new Gauge();
  private final Gauge segmentBytes = new Gauge();
  private volatile long[][] directory;

  KeyTable() {
    directory = new long[0][];
    expect(0);
  }

  /** Writer: makes room for so many keys, about; there are none yet. */
  void expect(long count) {
    for (long[] segment : directory) {
      dropped(segment);
    }
    int depth = CLASS_BITS;
    while (depth < MAX_DEPTH && count >>> depth > limit(UNIT_SLOTS)) {
      depth++;
    }
    long[][] first = new long[1 << depth][];
    for (int i = 0; i < first.length; ) {
      int full = fullSlots((long) i << 64 - depth);
      // Where a class of segments is larger, one does for two.
      int own =
          depth > CLASS_BITS && count >>> depth - 1 <= limit(full) * 31L / 32 ? depth - 1 : depth;
      long[] segment = create(slotsFor((int) (count >>> own), full), own);
      int end = i + (1 << depth - own);
      Arrays.fill(first, i, end, segment);
      i = end;
    }
    directory = first;
  }

  /** Any thread: a power of two of segments, see {@link #indexOf}. */
  long[][] directory() {
    return directory;
  }

  /** Where in a directory a key's segment is. */
  static int indexOf(long[][] directory, long mixed) {
    return (int) (mixed >>> 64 - Integer.numberOfTrailingZeros(directory.length));
  }

  /**
   * Any thread. A plain read and a fence instead of an acquiring one, which would check the array's
   * class on every block; a segment's contents were written before the release that published it.
   */
  static long[] segmentAt(long[][] directory, int index) {
    long[] segment = directory[index];
    VarHandle.acquireFence();
    return segment;
  }

  /** Writer: the segment a key belongs to, valid until the next insertion or removal. */
  long[] segmentOf(long mixed) {
    long[][] current = directory;
    return current[indexOf(current, mixed)];
  }

  /** Writer: adds a key that is not there. */
  void insert(long mixed, long key, int id) {
    long[] segment = segmentOf(mixed);
    while (Segment.count(segment) >= limit(Segment.slots(segment))) {
      grow(segment, mixed);
      segment = segmentOf(mixed);
    }
    if (!Segment.insert(segment, mixed, key, id)) {
      segment = rebuild(segment, mixed, Segment.slots(segment));
      Segment.insert(segment, mixed, key, id);
    }
    keys.add(1);
  }

  /** Writer: takes out the key in a slot of the segment it belongs to. */
  void remove(long[] segment, long mixed, int slot) {
    Segment.remove(segment, mixed, slot);
    keys.add(-1);
    int slots = Segment.slots(segment);
    if (slots > Segment.SMALLEST && Segment.count(segment) < slots >>> 3) {
      rebuild(segment, mixed, Math.max(Segment.SMALLEST, slots >>> 1));
    }
  }

  /** Any thread. */
  long keys() {
    return keys.get();
  }

  /** Any thread: heap taken, in bytes. */
  long bytes() {
    return segmentBytes.get() + 4L * directory.length;
  }

  private void grow(long[] segment, long mixed) {
    int slots = Segment.slots(segment);
    int full = fullSlots(mixed);
    if (slots < full) {
      rebuild(segment, mixed, slotsFor(Segment.count(segment), full));
    } else if (Segment.depth(segment) < MAX_DEPTH) {
      split(segment, mixed, full);
    } else {
      rebuild(segment, mixed, 2 * slots);
    }
  }

  private long[] rebuild(long[] segment, long mixed, int slots) {
    int depth = Segment.depth(segment);
    long[] copy = create(slots, depth);
    copy(segment, 0, copy, copy);
    publish(directory, mixed, depth, copy);
    dropped(segment);
    return copy;
  }

  private void split(long[] segment, long mixed, int full) {
    int depth = Segment.depth(segment) + 1;
    long bit = 1L << 64 - depth;
    int ones = 0;
    for (int slot = 0; slot < Segment.slots(segment); slot++) {
      if (Segment.idAt(segment, slot) != 0
          && (Segment.mix(Segment.keyAt(segment, slot)) & bit) != 0) {
        ones++;
      }
    }
    long[] zero = create(slotsFor(Segment.count(segment) - ones, full), depth);
    long[] one = create(slotsFor(ones, full), depth);
    copy(segment, bit, zero, one);
    long[][] target = directory;
    if (depth > Integer.numberOfTrailingZeros(target.length)) {
      target = doubled(target);
    }
    publish(target, mixed & ~bit, depth, zero);
    publish(target, mixed | bit, depth, one);
    directory = target;
    dropped(segment);
  }

  /** Puts keys where a bit of their mixed hash says. */
  private static void copy(long[] segment, long bit, long[] zero, long[] one) {
    for (int slot = 0; slot < Segment.slots(segment); slot++) {
      int id = Segment.idAt(segment, slot);
      if (id != 0) {
        long key = Segment.keyAt(segment, slot);
        long mixed = Segment.mix(key);
        Segment.insert((mixed & bit) != 0 ? one : zero, mixed, key, id);
      }
    }
  }

  /**
   * Everything in the segment was written before this release, so whoever finds it finds it whole.
   */
  private static void publish(long[][] directory, long mixed, int depth, long[] segment) {
    int spread = Integer.numberOfTrailingZeros(directory.length) - depth;
    int first = (int) (mixed >>> 64 - depth) << spread;
    for (int i = first; i < first + (1 << spread); i++) {
      SEGMENTS.setRelease(directory, i, segment);
    }
  }

  private static long[][] doubled(long[][] directory) {
    long[][] twice = Arrays.copyOf(directory, 2 * directory.length);
    for (int i = twice.length - 1; i >= 0; i--) {
      twice[i] = directory[i >>> 1];
    }
    return twice;
  }

  private long[] create(int slots, int depth) {
    segmentBytes.add(ARRAY_HEADER_BYTES + 16L * slots + 16);
    return Segment.create(slots, depth);
  }

  private void dropped(long[] segment) {
    segmentBytes.add(-(ARRAY_HEADER_BYTES + 8L * segment.length));
  }

  private static int fullSlots(long mixed) {
    int sizeClass = (int) (mixed >>> 64 - CLASS_BITS);
    return UNIT_SLOTS / 8 * (8 + sizeClass);
  }

  /** Room for a fifth more keys, small segments for twice as many; at most the full size. */
  private static int slotsFor(int keys, int full) {
    int more = Math.max(Segment.SMALLEST / 2, keys / 5);
    return Math.max(Segment.SMALLEST, Math.min(full, (keys + more) * 32 / 26 + 1));
  }

  /** Keys a segment takes before it grows: 26/32 of its slots. */
  private static int limit(int slots) {
    return slots * 26 >>> 5;
  }
}
