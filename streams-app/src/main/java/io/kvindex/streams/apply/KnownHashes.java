// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

/**
 * Whether an engine hash is in a set, told without asking RocksDB: "no" is certain, "maybe" is
 * wrong once in 100,000 at ten million hashes. Keeps 40 bits of each hash, 5 to 11 bytes apiece, in
 * small segments, so that growing never costs more than the copy of one. For one thread.
 */
final class KnownHashes {

  private static final int SEGMENT_BITS = 8;
  private static final int SMALLEST = 16;

  private final int[][] segments = new int[1 << SEGMENT_BITS][SMALLEST];
  private final int[] sizes = new int[1 << SEGMENT_BITS];

  /** Adds one more; a hash added twice must be removed twice. */
  void add(int space, long hash) {
    long mixed = mix(space, hash);
    int number = segment(mixed);
    if (4 * (sizes[number] + 1) > 3 * segments[number].length) {
      grow(number);
    }
    insert(segments[number], print(mixed));
    sizes[number]++;
  }

  /** False only if the hash is not in the set. */
  boolean mayContain(int space, long hash) {
    long mixed = mix(space, hash);
    return find(segments[segment(mixed)], print(mixed)) >= 0;
  }

  /** Takes out a hash that was added; any other could take one with it that is there. */
  void remove(int space, long hash) {
    long mixed = mix(space, hash);
    int number = segment(mixed);
    int[] segment = segments[number];
    int hole = find(segment, print(mixed));
    if (hole < 0) {
      return;
    }
    sizes[number]--;
    int mask = segment.length - 1;
    // Whoever probed past the hole moves into it: no tombstones.
    for (int at = hole + 1 & mask; segment[at] != 0; at = at + 1 & mask) {
      int home = segment[at] & mask;
      if ((at - home & mask) >= (at - hole & mask)) {
        segment[hole] = segment[at];
        hole = at;
      }
    }
    segment[hole] = 0;
  }

  private void grow(int number) {
    int[] doubled = new int[2 * segments[number].length];
    for (int print : segments[number]) {
      if (print != 0) {
        insert(doubled, print);
      }
    }
    segments[number] = doubled;
  }

  private static void insert(int[] segment, int print) {
    int at = print & segment.length - 1;
    while (segment[at] != 0) {
      at = at + 1 & segment.length - 1;
    }
    segment[at] = print;
  }

  private static int find(int[] segment, int print) {
    int at = print & segment.length - 1;
    while (segment[at] != 0) {
      if (segment[at] == print) {
        return at;
      }
      at = at + 1 & segment.length - 1;
    }
    return -1;
  }

  private static long mix(int space, long hash) {
    long mixed = (hash + space * 0xC2B2AE3D27D4EB4FL) * 0x9E3779B97F4A7C15L;
    return (mixed ^ mixed >>> 29) * 0xBF58476D1CE4E5B9L;
  }

  private static int segment(long mixed) {
    return (int) (mixed >>> 64 - SEGMENT_BITS);
  }

  /** Never 0, which marks a free place. */
  private static int print(long mixed) {
    int print = (int) (mixed >>> 64 - SEGMENT_BITS - 32);
    return print == 0 ? 1 : print;
  }
}
