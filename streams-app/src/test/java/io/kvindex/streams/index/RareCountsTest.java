// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RareCountsTest {

  private record Name(int space, long hash) {}

  @Test
  void shouldBeLikeMaps_whenCountsComeAndGo() {
    Random random = new Random(21);
    RareCounts counts = new RareCounts();
    Map<Name, Map<Long, Long>> expected = new HashMap<>();
    List<long[]> handedOut = new ArrayList<>();
    List<long[]> asTheyWere = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      Name name = new Name(random.nextInt(3), random.nextInt(20) - 10L);
      long holder = (long) random.nextInt(4) << 8 | random.nextInt(2);
      Map<Long, Long> known = expected.computeIfAbsent(name, n -> new LinkedHashMap<>());
      boolean plain = random.nextInt(i / 10_000 % 2 == 0 ? 3 : 2) == 0;
      long count =
          plain
              ? RareCounts.PLAIN
              : (long) random.nextInt(3) << 32 | random.nextInt(Integer.MAX_VALUE);
      if (plain) {
        known.remove(holder);
      } else {
        known.put(holder, count);
      }
      boolean left = counts.set(name.space, name.hash, holder, count);
      assertThat(left).isEqualTo(!known.isEmpty());
      long[] all = counts.of(name.space, name.hash);
      assertThat(all == null).isEqualTo(known.isEmpty());
      if (all != null) {
        // The order too: it is a function of what was set.
        assertThat(all).isEqualTo(pairs(known));
        if (i % 1_000 == 0) {
          handedOut.add(all);
          asTheyWere.add(all.clone());
        }
      }
      for (long other = 0; other < 4; other++) {
        assertThat(counts.of(name.space, name.hash, other << 8))
            .isEqualTo(known.getOrDefault(other << 8, RareCounts.PLAIN));
      }
      expected.values().removeIf(Map::isEmpty);
      assertThat(counts.size()).isEqualTo(expected.size());
    }
    assertThat(handedOut)
        .as("what is read elsewhere never changes")
        .containsExactlyElementsOf(asTheyWere);
  }

  private static long[] pairs(Map<Long, Long> counts) {
    return counts.entrySet().stream()
        .flatMap(e -> List.of(e.getKey(), e.getValue()).stream())
        .mapToLong(value -> value)
        .toArray();
  }
}
