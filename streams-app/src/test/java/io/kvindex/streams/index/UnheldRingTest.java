// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnheldRingTest {

  private record Name(int space, long hash) {}

  /** Also where places no longer fit an int, or the 25 bits names have for them. */
  @ParameterizedTest
  @ValueSource(longs = {0, (1 << 25) - 500, (1L << 31) - 500, (1L << 32) - 500, (1L << 40) + 17})
  void shouldBeLikeAQueue_whereverItBegins(long first) {
    Random random = new Random(first);
    UnheldRing ring = new UnheldRing();
    if (first > 0) {
      ring.restore(first, first);
    }
    Deque<Name> expected = new ArrayDeque<>();
    long removed = 0;
    for (int i = 0; i < 300_000; i++) {
      int bias = i / 30_000 % 2 == 0 ? 3 : 1;
      if (expected.isEmpty() || random.nextInt(4) < bias) {
        Name name = new Name(random.nextInt(9), random.nextLong());
        assertThat(ring.add(name.space, name.hash)).isEqualTo(first + removed + expected.size());
        expected.add(name);
      } else {
        Name oldest = expected.remove();
        assertThat(ring.space(ring.head())).isEqualTo(oldest.space);
        assertThat(ring.hash(ring.head())).isEqualTo(oldest.hash);
        ring.removeFirst();
        removed++;
      }
      assertThat(ring.head()).isEqualTo(first + removed);
      assertThat(ring.tail() - ring.head()).isEqualTo(expected.size());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 63, 64, 65, 127, 128, 129, 1_000})
  void shouldGoOnAsBefore_whenItIsRestored(int length) {
    long from = (1L << 25) - 60;
    UnheldRing ring = new UnheldRing();
    ring.restore(from, from + length);
    List<Name> expected = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      if (i % 3 == 0) {
        expected.add(null); // its name is held again
      } else {
        ring.restore(from + i, i, 7L * i);
        expected.add(new Name(i, 7L * i));
      }
    }
    for (int i = 0; i < 200; i++) {
      assertThat(ring.add(9, i)).isEqualTo(from + length + i);
      expected.add(new Name(9, i));
    }
    for (Name name : expected) {
      assertThat(ring.space(ring.head())).isEqualTo(name == null ? -1 : name.space);
      if (name != null) {
        assertThat(ring.hash(ring.head())).isEqualTo(name.hash);
      }
      ring.removeFirst();
    }
    assertThat(ring.head()).isEqualTo(ring.tail());
  }

  @Test
  void shouldForgetWhatItHad_whenItIsRestored() {
    UnheldRing ring = new UnheldRing();
    for (int i = 0; i < 100; i++) {
      ring.add(3, i);
    }
    ring.restore(10, 12);
    assertThat(ring.space(ring.head())).isEqualTo(-1);
    ring.removeFirst();
    assertThat(ring.space(ring.head())).isEqualTo(-1);
    ring.removeFirst();
    assertThat(ring.add(1, 2)).isEqualTo(12);
  }
}
