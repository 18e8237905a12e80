// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.apply.Outcome;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.CountedOutcomes;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.ModelTable;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RandomLog;
import io.kvindex.streams.fixture.RowStore;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.streams.KeyValue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random logs of several publishers against a model without hashes, rows or index; restarts, old
 * records again, a standby that follows, and a restore from a compacted changelog must all answer
 * the same.
 */
class RandomLogTest {

  private static final int RECORDS = 1_200;
  private static final Limits LIMITS = Limits.DEFAULT;

  @TempDir private Path dir;
  private final List<KeyValue<byte[], byte[]>> log = new ArrayList<>();
  private Map<Owner, Long> blocks = Map.of();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void shouldAnswerLikeModel_whateverHappensInBetween(long seed) {
    System.out.println("RandomLogTest seed " + seed);
    Random random = new Random(seed);
    RandomLog source = new RandomLog(random);
    ModelTable model = new ModelTable();
    List<EventRecord> old = new ArrayList<>();
    int matched = 0;
    int followed = 0;
    boolean bulk = seed % 2 == 0;
    RowStore active = new RowStore(dir.resolve("active"), log, bulk).activate(LIMITS);
    RowStore standby = new RowStore(dir.resolve("standby"), new ArrayList<>());
    try {
      for (int i = 0; i < RECORDS; i++) {
        EventRecord record = source.next();
        model.apply(record);
        active.take(record, 1);
        old.add(record);
        if (random.nextInt(4) == 0) {
          active.take(old.get(random.nextInt(old.size())), 1);
        }
        if (random.nextInt(10) == 0) {
          active.tidy(random.nextInt(20));
        }
        if (random.nextInt(150) == 0) {
          assertBalanced(active);
          active.close();
          active = new RowStore(dir.resolve("active"), log, bulk).activate(LIMITS);
          // Without a changelog the log is read at least once: a part of it comes again.
          for (EventRecord again : old.subList(random.nextInt(old.size()), old.size())) {
            active.take(again, 1);
          }
        }
        if (i % 25 == 0) {
          matched += compare(model, active, source, "active seed " + seed + " record " + i);
        }
        if (i % 100 == 99) {
          standby.restore(log, followed, 1 + random.nextInt(50));
          followed = log.size();
          matched += compare(model, standby, source, "standby seed " + seed + " record " + i);
        }
      }
      assertBalanced(active);
      blocks = blocksByOwner(active);
      assertThat(blocks.values()).as("blocks by owner").anyMatch(held -> held > 10);
      assertThat(matched).as("blocks held in compared answers").isGreaterThan(1_000);
      active.close();
      active = new RowStore(dir.resolve("active"), log);
      assertThat(blocksByOwner(active)).as("after a restart").isEqualTo(blocks);
      restoreCompacted(model, source, random, seed);
    } finally {
      active.close();
      standby.close();
    }
  }

  private void restoreCompacted(ModelTable model, RandomLog source, Random random, long seed) {
    for (int round = 0; round < 3; round++) {
      int upTo = round == 0 ? log.size() : random.nextInt(log.size());
      List<KeyValue<byte[], byte[]>> left = RowStore.compacted(log, upTo, round == 1);
      String what = "restored seed " + seed + " compacted to " + upTo + " of " + log.size();
      Path place = dir.resolve("cold" + round);
      try (RowStore cold = new RowStore(place, new ArrayList<>())) {
        // In bulk the first time; later rows are folded from somewhere on, as a standby's are.
        int folded = round == 0 ? left.size() : random.nextInt(left.size());
        cold.restore(left.subList(0, folded), 0, 1 + random.nextInt(5_000));
        cold.view();
        cold.restore(left, folded, 1 + random.nextInt(200));
        compare(model, cold, source, what);
        assertThat(blocksByOwner(cold)).as(what).isEqualTo(blocks);
      }
      try (RowStore warm = new RowStore(place, new ArrayList<>())) {
        compare(model, warm, source, what + ", opened again");
        assertThat(blocksByOwner(warm)).as(what + ", opened again").isEqualTo(blocks);
      }
    }
  }

  /** Every record and event a task took up is found again among the outcomes. */
  private static void assertBalanced(RowStore store) {
    CountedOutcomes counts = store.counts();
    List<Outcome> ends = List.of(Outcome.APPLIED, Outcome.DUPLICATE, Outcome.STALE_INCARNATION);
    assertThat(ends.stream().mapToLong(counts::recordsOf).sum() + store.view().heldRecords())
        .as("records %s", counts)
        .isEqualTo(counts.recordsTaken());
    if (store.view().heldRecords() == 0) {
      assertThat(ends.stream().mapToLong(counts::of).sum())
          .as("events %s", counts)
          .isEqualTo(counts.eventsTaken());
    }
  }

  /** What each live owner holds, as the figures have it. */
  private static Map<Owner, Long> blocksByOwner(RowStore store) {
    Map<Owner, Long> blocks = new HashMap<>();
    store
        .view()
        .tables()
        .values()
        .forEach(
            index -> {
              OwnerView owners = index.owners();
              for (int slot = 0; slot < owners.slots(); slot++) {
                Owner owner = owners.owner(slot);
                if (owner != null) {
                  blocks.merge(owner, index.members(slot), Long::sum);
                }
              }
            });
    return blocks;
  }

  /** How many blocks were held in all answers. */
  private static int compare(ModelTable model, RowStore store, RandomLog source, String what) {
    int blocks = 0;
    for (String prompt : source.prompts()) {
      blocks += compare(model, store, null, prompt, what);
    }
    for (String prompt : source.salted()) {
      blocks += compare(model, store, RandomLog.SALT, prompt, what);
      compare(model, store, null, prompt, what);
    }
    return blocks;
  }

  private static int compare(
      ModelTable model, RowStore store, @Nullable String salt, String prompt, String what) {
    List<String> expected = model.holders(salt, prompt);
    List<String> answers = new ArrayList<>();
    long context = ContextHash.of(null, null, salt);
    Answers.of(store.view(), Engine.TABLE, context, new Prompt(prompt).seqHashes())
        .forEach(owners -> answers.add(String.join(",", owners)));
    assertThat(answers).as("%s prompt %s salt %s", what, prompt, salt).isEqualTo(expected);
    return expected.size();
  }
}
