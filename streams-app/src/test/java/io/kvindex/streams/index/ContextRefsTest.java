// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContextRefsTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 64, 4096})
  void shouldBeLikeAMap_whateverTheLimit(int most) {
    Random random = new Random(most);
    ContextRefs contexts = new ContextRefs(most);
    Map<Long, Integer> refs = new HashMap<>();
    Map<Long, Integer> references = new HashMap<>();
    Set<Integer> inUse = new HashSet<>();
    List<Long> retained = new ArrayList<>();
    int refused = 0;
    for (int i = 0; i < 200_000; i++) {
      boolean grows = i / 10_000 % 2 == 0;
      if (retained.isEmpty() || random.nextInt(5) < (grows ? 3 : 2)) {
        long hash = context(random, most);
        int ref = contexts.retain(hash);
        if (hash == 0) {
          assertThat(ref).isZero();
        } else if (!refs.containsKey(hash) && refs.size() == most - 1) {
          assertThat(ref).isEqualTo(ContextRefs.FULL);
          refused++;
          continue;
        } else {
          assertThat(ref).isBetween(1, most - 1);
          if (refs.containsKey(hash)) {
            assertThat(ref).isEqualTo(refs.get(hash));
          } else {
            assertThat(inUse.add(ref)).as("number %d is free", ref).isTrue();
            refs.put(hash, ref);
          }
          references.merge(hash, 1, Integer::sum);
        }
        retained.add(hash);
      } else {
        int at = random.nextInt(retained.size());
        long hash = retained.get(at);
        retained.set(at, retained.get(retained.size() - 1));
        retained.remove(retained.size() - 1);
        contexts.release(refs.getOrDefault(hash, 0));
        if (hash != 0 && references.merge(hash, -1, Integer::sum) == 0) {
          references.remove(hash);
          inUse.remove(refs.remove(hash));
        }
      }
      assertThat(contexts.count()).isEqualTo(refs.size());
      if (i % 1_000 == 0) {
        refs.forEach((hash, ref) -> assertThat(contexts.hash(ref)).isEqualTo(hash));
        assertThat(contexts.hash(0)).isZero();
      }
    }
    if (most <= 64) {
      assertThat(refused).isPositive();
    }
  }

  /** Small numbers, spread ones and 0. */
  private static long context(Random random, int most) {
    long context = random.nextInt(2 * most + 1);
    return (context & 1) == 0 ? context : context << 40;
  }

  @Test
  void shouldRefuseAndTakeAgain_whenAllNumbersAreInUse() {
    int most = 1 << 20;
    ContextRefs contexts = new ContextRefs(most);
    for (long hash = 1; hash < most; hash++) {
      assertThat(contexts.retain(hash)).isEqualTo((int) hash);
    }
    assertThat(contexts.retain(-1)).isEqualTo(ContextRefs.FULL);
    assertThat(contexts.retain(0)).isZero();
    assertThat(contexts.retain(77)).as("one that is there").isEqualTo(77);
    contexts.release(77);
    contexts.release(77);
    assertThat(contexts.retain(-1)).isEqualTo(77);
    assertThat(contexts.retain(77)).isEqualTo(ContextRefs.FULL);
    assertThat(contexts.hash(77)).isEqualTo(-1);
    assertThat(contexts.count()).isEqualTo(most - 1);
  }
}
