// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.query.explain.InstanceRuns.End;
import io.kvindex.query.explain.InstanceRuns.Run;
import io.kvindex.query.match.InstanceSet;
import io.kvindex.query.match.InstanceSet.Instance;
import io.kvindex.query.match.MatchCounter;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.PrefixReader;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RunRecorderTest {
  private final PrefixIndex index = new PrefixIndex();

  @Test
  void shouldSayWhereAndWhy_whenInstancesHoldDifferentParts() {
    store("a", "GPU", false, 0, 4);
    store("a", "CPU", false, 2, 6);
    store("b", "GPU", false, 0, 2);
    store("b", "GPU", false, 3, 6);
    store("pool", "CPU", true, 0, 1);
    store("pool", "DISK", true, 4, 5);
    store("e", "GPU", false, 5, 6);
    RunRecorder runs =
        record(
            8,
            new Instance("a", List.of(0), null),
            new Instance("b", List.of(0), Set.of()),
            new Instance("c", List.of(0), null),
            new Instance("d", List.of(0), Set.of()),
            new Instance("e", List.of(0), Set.of()));
    assertThat(runs.of(0).runs())
        .containsExactly(
            new Run(0, 1, Set.of("CPU@pool", "GPU")),
            new Run(1, 2, Set.of("GPU")),
            new Run(2, 4, Set.of("CPU", "GPU")),
            new Run(4, 5, Set.of("CPU", "DISK@pool")),
            new Run(5, 6, Set.of("CPU")));
    assertThat(runs.of(0).end()).isEqualTo(End.HELD_BY_NOBODY);
    assertThat(runs.of(0).matched()).isEqualTo(6);
    assertThat(runs.of(1).runs()).containsExactly(new Run(0, 2, Set.of("GPU")));
    assertThat(runs.of(1).end()).isEqualTo(End.HELD_BY_OTHERS);
    assertThat(runs.of(1).matched()).isEqualTo(2);
    assertThat(runs.of(2).runs()).containsExactly(new Run(0, 1, Set.of("CPU@pool")));
    assertThat(runs.of(3).end()).isEqualTo(End.NOTHING_STORED);
    assertThat(runs.of(4).end()).isEqualTo(End.HELD_BY_OTHERS);
    assertThat(runs.of(4).matched()).isZero();
    assertThat(runs.of(4).runs()).isEmpty();
  }

  @Test
  void shouldSayThatThePromptEnded_whenAllOfItIsHeld() {
    store("a", "GPU", false, 0, 100);
    RunRecorder runs = record(100, new Instance("a", List.of(0), null));
    assertThat(runs.of(0).end()).isEqualTo(End.END_OF_PROMPT);
    assertThat(runs.of(0).runs()).containsExactly(new Run(0, 100, Set.of("GPU")));
    RunRecorder none = record(0, new Instance("x", List.of(0), null));
    assertThat(none.of(0).end()).isEqualTo(End.END_OF_PROMPT);
  }

  @Test
  void shouldKeepFewRuns_whenMediaFlicker() {
    store("a", "GPU", false, 0, 2000);
    for (int i = 0; i < 2000; i += 2) {
      store("a", "CPU", false, i, i + 1);
    }
    InstanceRuns runs = record(2000, new Instance("a", List.of(0), null)).of(0);
    assertThat(runs.runs()).hasSize(InstanceRuns.MAX_RUNS);
    assertThat(runs.omitted()).isEqualTo(2000 - InstanceRuns.MAX_RUNS);
  }

  @Test
  void shouldAgreeWithTheAnswer_whenStatesAreRandom() {
    long seed = TestSeed.of(RunRecorderTest.class);
    Random random = new Random(seed);
    for (int state = 0; state < 300; state++) {
      PrefixIndex fresh = new PrefixIndex();
      int blocks = 1 + random.nextInt(60);
      for (String medium : List.of("GPU", "CPU", "DISK")) {
        for (String id : List.of("a", "b", "c", "p1", "p2")) {
          int slot = fresh.addOwner(owner(id, medium, id.startsWith("p")));
          for (int block = 0; block < blocks; block++) {
            if (random.nextInt(10) < 7) {
              fresh.add(block + 1, slot);
            }
          }
        }
      }
      InstanceSet set =
          set(
              new Instance("a", List.of(0), null),
              new Instance("b", List.of(0), Set.of()),
              new Instance("c", List.of(0), Set.of("p2")));
      MatchCounter counter = new MatchCounter();
      new PrefixReader().walk(fresh, keys(blocks), new long[1], counter.over(set));
      RunRecorder runs = new RunRecorder(Media.standard(), set, blocks);
      new PrefixReader().walk(fresh, keys(blocks), new long[1], runs);
      for (int i = 0; i < set.size(); i++) {
        assertThat(runs.of(i).matched()).isEqualTo(counter.longest(i));
        for (int medium = 0; medium < counter.media(); medium++) {
          String key = counter.mediumKey(medium);
          int held =
              runs.of(i).runs().stream()
                  .filter(
                      run ->
                          run.media().stream()
                              .anyMatch(one -> one.equals(key) || one.startsWith(key + "@")))
                  .mapToInt(run -> run.to() - run.from())
                  .sum();
          assertThat(held).as(key).isEqualTo(counter.inMedium(i, medium));
        }
      }
    }
  }

  private RunRecorder record(int blocks, Instance... instances) {
    RunRecorder runs = new RunRecorder(Media.standard(), set(instances), blocks);
    new PrefixReader().walk(index, keys(blocks), new long[1], runs);
    return runs;
  }

  private static InstanceSet set(Instance... instances) {
    return new InstanceSet(List.of(instances), Media.standard());
  }

  private void store(String instance, @Nullable String medium, boolean pool, int from, int to) {
    int slot = index.addOwner(owner(instance, medium, pool));
    IntStream.range(from, to).forEach(block -> index.add(block + 1, slot));
  }

  private static Owner owner(String instance, @Nullable String medium, boolean pool) {
    return new Owner(
        "default", instance, 0, 0, medium, pool, null, new Incarnation(1, System.nanoTime(), 0));
  }

  /** Block {@code i} has the key {@code i + 1}. */
  private static BlockKeys keys(int blocks) {
    return (out, from, max) -> {
      int count = Math.min(max, blocks - from);
      for (int i = 0; i < count; i++) {
        out[i] = from + i + 1;
      }
      return Math.max(0, count);
    };
  }
}
