// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KnownHashesTest {

  private final KnownHashes hashes = new KnownHashes();

  @Test
  void shouldContainWhatWasAddedMoreOftenThanRemoved_whenRandomlyUsed() {
    Random random = new Random(1);
    Map<Long, Integer> expected = new HashMap<>();
    List<Long> names = new ArrayList<>();
    for (int i = 0; i < 400_000; i++) {
      long hash =
          names.isEmpty() || random.nextInt(3) > 0 ? random.nextLong() : pick(names, random);
      if (random.nextInt(5) < 3 || !expected.containsKey(hash)) {
        hashes.add(7, hash);
        names.add(hash);
        expected.merge(hash, 1, Integer::sum);
      } else {
        hashes.remove(7, hash);
        expected.computeIfPresent(hash, (h, n) -> n == 1 ? null : n - 1);
      }
    }
    assertThat(expected).hasSizeGreaterThan(100_000);
    expected.keySet().forEach(hash -> assertThat(hashes.mayContain(7, hash)).isTrue());
    long gone = names.stream().filter(hash -> !expected.containsKey(hash)).distinct().count();
    long wrong =
        names.stream()
            .filter(hash -> !expected.containsKey(hash))
            .distinct()
            .filter(hash -> hashes.mayContain(7, hash))
            .count();
    assertThat(gone).isGreaterThan(10_000);
    assertThat(wrong).as("of %s removed ones still there", gone).isLessThanOrEqualTo(1);
  }

  @Test
  void shouldTellSpacesApart_whenHashIsTheSame() {
    hashes.add(1, 42);
    assertThat(hashes.mayContain(2, 42)).isFalse();
    hashes.remove(2, 42);
    assertThat(hashes.mayContain(1, 42)).isTrue();
  }

  private static long pick(List<Long> names, Random random) {
    return names.get(random.nextInt(names.size()));
  }
}
