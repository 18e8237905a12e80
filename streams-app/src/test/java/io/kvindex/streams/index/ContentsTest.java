// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.TestSeed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ContentsTest {

  private record Content(long key, long local, long meaning) {}

  private final Contents contents = new Contents();
  private final Map<Content, Long> numbers = new HashMap<>();
  private final Map<Content, Integer> names = new HashMap<>();

  /** Numbers are in names, so they must mean the same until the last of these is gone. */
  @Test
  void shouldMeanTheSameByEachNumber_whileNamesComeAndGo() {
    Random random = new Random(TestSeed.of(ContentsTest.class));
    List<Content> held = new ArrayList<>();
    for (int wave = 0; wave < 6; wave++) {
      // By turns more come than go and more go than come, to the last one.
      int comes = wave % 2 == 0 ? 3 : 1;
      for (int i = 0; i < 300_000; i++) {
        if (held.isEmpty() || random.nextInt(4) < comes) {
          held.add(retain(random));
        } else {
          release(held, random.nextInt(held.size()));
        }
      }
    }
    while (!held.isEmpty()) {
      release(held, held.size() - 1);
    }
    assertThat(contents.size()).isZero();
  }

  private Content retain(Random random) {
    long key = random.nextInt(200_000) * (random.nextBoolean() ? 1L : 0x9E3779B97F4A7C15L);
    Content content = new Content(key, random.nextInt(2), random.nextInt(2) * Contents.MOST);
    long number = contents.retain(content.key, content.local, content.meaning);
    assertThat(number).isBetween(1L, Contents.MOST);
    Long before = numbers.put(content, number);
    assertThat(before == null || before == number).isTrue();
    names.merge(content, 1, Integer::sum);
    return content;
  }

  private void release(List<Content> held, int which) {
    Content content = held.get(which);
    held.set(which, held.get(held.size() - 1));
    held.remove(held.size() - 1);
    long number = numbers.getOrDefault(content, 0L);
    assertThat(contents.key(number)).isEqualTo(content.key);
    assertThat(contents.local(number)).isEqualTo(content.local);
    assertThat(contents.meaning(number)).isEqualTo(content.meaning);
    contents.release(number);
    if (names.merge(content, -1, Integer::sum) == 0) {
      names.remove(content);
      numbers.remove(content);
    }
    assertThat(contents.size()).isEqualTo(names.size());
  }
}
