// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.Adapter;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.TokenIds;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.Parent;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against a random hybrid engine, of which it is known what it computed and what it reused. */
class SideGroupsTest {

  private static final int MAIN = 2;
  private static final int PROMPTS = 6;
  private static final int LONGEST = 5;
  private static final int ROUNDS = 3_000;

  private final Learned learned = new Learned();

  /** A cache of full attention in group 2 and of states, or last blocks, in groups 0 and 1. */
  private static final class Hybrid {
    final Random random;
    final String kind;
    final boolean reports;

    /** Copies by group and block. */
    final List<Map<Long, Integer>> held =
        List.of(new HashMap<>(), new HashMap<>(), new HashMap<>());

    final List<EngineEvent> events = new ArrayList<>();

    /** Places of events of computed blocks of full attention. */
    final BitSet computed = new BitSet();

    /** Those of them that full attention alone had whole. */
    final BitSet again = new BitSet();

    Hybrid(long seed, String kind, boolean reports) {
      random = new Random(seed);
      this.kind = kind;
      this.reports = reports;
    }

    void step() {
      events.clear();
      computed.clear();
      again.clear();
      for (int i = random.nextInt(4); i >= 0; i--) {
        int dice = random.nextInt(100);
        if (dice < 50) {
          request(random.nextInt(PROMPTS), 1 + random.nextInt(LONGEST));
        } else if (dice < 99) {
          evict();
        } else {
          held.forEach(Map::clear);
          events.add(new EngineEvent.Cleared(null));
        }
      }
    }

    private void request(int prompt, int length) {
      int reused = length;
      while (reused > 0 && !isReusable(prompt, reused)) {
        reused--;
      }
      if (reports && reused > 0) {
        long[] all = blocks(prompt, 0, reused);
        for (int group = 0; group < 2; group++) {
          events.add(stored(group, kind, null, all));
        }
        events.add(stored(MAIN, "full_attention", null, all));
      }
      if (reused == length) {
        return;
      }
      Long parent = reused == 0 ? null : block(prompt, reused - 1);
      for (int group = 0; group < 2; group++) {
        held.get(group).merge(block(prompt, length - 1), 1, Integer::sum);
        events.add(stored(group, kind, parent, block(prompt, length - 1)));
      }
      computed.set(events.size());
      long[] fresh = blocks(prompt, reused, length);
      if (LongStream.of(fresh).allMatch(held.get(MAIN)::containsKey)) {
        again.set(events.size());
      }
      LongStream.of(fresh).forEach(hash -> held.get(MAIN).merge(hash, 1, Integer::sum));
      events.add(stored(MAIN, "full_attention", parent, fresh));
    }

    private boolean isReusable(int prompt, int length) {
      return held.get(0).containsKey(block(prompt, length - 1))
          && held.get(1).containsKey(block(prompt, length - 1))
          && LongStream.of(blocks(prompt, 0, length)).allMatch(held.get(MAIN)::containsKey);
    }

    private void evict() {
      int group = random.nextInt(3);
      Map<Long, Integer> some = held.get(group);
      if (some.isEmpty()) {
        return;
      }
      long hash = some.keySet().stream().sorted().toList().get(random.nextInt(some.size()));
      some.computeIfPresent(hash, (key, copies) -> copies == 1 ? null : copies - 1);
      events.add(new EngineEvent.Removed(scope(group, null), Hashes.of(hash), Hashes.EMPTY));
    }

    private static long block(int prompt, int index) {
      return 1 + prompt * 100L + index;
    }

    private static long[] blocks(int prompt, int from, int to) {
      return LongStream.range(from, to).map(i -> block(prompt, (int) i)).toArray();
    }

    private static EngineEvent stored(
        int group, String kind, @Nullable Long parent, long... hashes) {
      return new EngineEvent.Stored(
          scope(group, kind),
          Hashes.of(hashes),
          parent == null ? Parent.UNKNOWN : Parent.of(parent),
          TokenIds.NONE,
          4,
          Adapter.NONE,
          null,
          Hashes.EMPTY,
          null);
    }

    private static CacheScope scope(int group, @Nullable String kind) {
      return new CacheScope("GPU", group, kind, 0, null, null);
    }
  }

  /**
   * @param reports whether the engine announces what it reuses, too
   */
  @ParameterizedTest
  @CsvSource({"1, mamba, false", "2, sliding_window, false", "3, mamba, true"})
  void shouldFindWhatWasComputed_andNothingElse(long seed, String kind, boolean reports) {
    Hybrid engine = new Hybrid(seed, kind, reports);
    int found = 0;
    int missed = 0;
    for (int round = 0; round < ROUNDS; round++) {
      engine.step();
      BitSet judged = take(engine);
      BitSet wrong = (BitSet) judged.clone();
      wrong.andNot(engine.computed);
      assertThat(wrong).as("seed %d, round %d: %s", seed, round, engine.events).isEqualTo(NONE);
      found += judged.cardinality();
      engine.again.andNot(judged);
      missed += engine.again.cardinality();
    }
    assertThat(found).isGreaterThan(reports ? 100 : 1_000);
    if (!reports) {
      assertThat(missed).isZero();
    }
  }

  private static final BitSet NONE = new BitSet();

  @ParameterizedTest
  @CsvSource({"4, mamba", "5, chunked_local_attention"})
  void shouldFindNothing_whenAnnouncementsAreLostOrAKindSaysNothing(long seed, String kind) {
    Hybrid engine = new Hybrid(seed, kind, false);
    engine.step();
    take(engine);
    learned.lost();
    for (int round = 0; round < 100; round++) {
      engine.step();
      boolean cleared = engine.events.stream().anyMatch(EngineEvent.Cleared.class::isInstance);
      if (cleared && kind.equals("mamba")) {
        return;
      }
      assertThat(take(engine)).isEqualTo(NONE);
    }
  }

  private BitSet take(Hybrid engine) {
    BitSet computed = learned.computed(new EngineBatch(0, null, engine.events, List.of()));
    for (EngineEvent event : engine.events) {
      if (event instanceof EngineEvent.Stored stored) {
        learned.learn(stored.scope(), 0); // as whoever goes on with the batch does
      }
    }
    return computed;
  }
}
