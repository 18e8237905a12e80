// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SegmentTest {

  private static final int KEYS = 8;

  private volatile boolean stop;

  /**
   * Keys with one first slot replace each other in the same few slots; each has an id of its own.
   */
  @Test
  @Timeout(60)
  void shouldNeverGiveAnotherKeysId_whenSlotsChangeHands() throws Exception {
    long[] segment = Segment.create(Segment.SMALLEST, 3);
    long[] keys = keysWithOneHome(segment);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<Future<long[]>> readers = new ArrayList<>();
      for (int r = 0; r < 2; r++) {
        readers.add(threads.submit(() -> read(segment, keys)));
      }
      long writes = write(segment, keys);
      stop = true;
      for (Future<long[]> reader : readers) {
        long[] seen = reader.get();
        System.out.printf("%d writes; %d reads, %d hits%n", writes, seen[0], seen[1]);
        assertThat(seen[2]).as("ids of other keys").isZero();
        assertThat(seen[3]).as("misses of the key that stayed").isZero();
      }
    } finally {
      stop = true;
      threads.shutdownNow();
    }
  }

  @Test
  void shouldRefuseASlot_whenItsVersionWouldWrap() {
    long[] segment = Segment.create(Segment.SMALLEST, 3);
    long mixed = Segment.mix(7);
    for (int i = 0; i < (1 << 24) - 1; i++) {
      assertThat(Segment.insert(segment, mixed, 7, 1)).isTrue();
      Segment.remove(segment, mixed, Segment.slotOf(segment, mixed, 7));
    }
    assertThat(Segment.insert(segment, mixed, 7, 1)).isFalse();
    assertThat(Segment.slotOf(segment, mixed, 7)).isEqualTo(-1);
    assertThat(Segment.count(segment)).isZero();
  }

  /** The last key stays; the others come and go. Ends early rather than let a version wrap. */
  private static long write(long[] segment, long[] keys) {
    Random random = new Random(17);
    Segment.insert(segment, Segment.mix(keys[KEYS - 1]), keys[KEYS - 1], KEYS);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
    long writes = 0;
    for (boolean room = true; room && (writes % 1024 != 0 || System.nanoTime() < end); writes++) {
      int k = random.nextInt(KEYS - 1);
      long mixed = Segment.mix(keys[k]);
      int slot = Segment.slotOf(segment, mixed, keys[k]);
      if (slot >= 0) {
        Segment.remove(segment, mixed, slot);
      } else {
        room = Segment.insert(segment, mixed, keys[k], k + 1);
      }
    }
    return writes;
  }

  private long[] read(long[] segment, long[] keys) {
    long[] seen = new long[4];
    while (!stop) {
      for (int k = 0; k < KEYS; k++) {
        long mixed = Segment.mix(keys[k]);
        int id = Segment.find(segment, mixed, keys[k]);
        int atHome = Segment.idAt(segment, Segment.offset(mixed, segment.length), keys[k]);
        seen[0]++;
        seen[1] += id == 0 ? 0 : 1;
        seen[2] += (id == 0 || id == k + 1) && (atHome == 0 || atHome == k + 1) ? 0 : 1;
        seen[3] += k == KEYS - 1 && seen[1] > KEYS && id == 0 ? 1 : 0;
      }
    }
    return seen;
  }

  private static long[] keysWithOneHome(long[] segment) {
    int home = Segment.offset(Segment.mix(1), segment.length);
    return Arrays.copyOf(
        new Random(5)
            .longs()
            .filter(key -> Segment.offset(Segment.mix(key), segment.length) == home)
            .limit(KEYS)
            .toArray(),
        KEYS);
  }
}
