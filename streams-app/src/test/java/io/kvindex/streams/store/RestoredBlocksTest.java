// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.Place;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RowStore;
import io.kvindex.streams.index.PrefixIndex;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.apache.kafka.streams.KeyValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies fold what an owner wrote in batches of any size, and hold what it holds. */
class RestoredBlocksTest {

  private static final Place GPU = Place.of("GPU", 0);
  private static final int BLOCKS = 900;

  @TempDir private Path dir;
  private final Random random = new Random(5);
  private final List<Engine> engines = List.of(new Engine("e1"), new Engine("e2"));
  private final List<Prompt> prompts = prompts();
  private final List<KeyValue<byte[], byte[]>> log = new ArrayList<>();

  private List<Prompt> prompts() {
    List<Prompt> all = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      StringBuilder path = new StringBuilder();
      random.ints(BLOCKS, 'a', 'z').forEach(block -> path.append((char) block));
      all.add(new Prompt(path.toString()));
    }
    return all;
  }

  /** Beyond what the arrays begin with, beyond what is kept of them, and small ones after that. */
  @Test
  void shouldHoldWhatTheOwnerHolds_whateverTheBatches() {
    int[] batches = {1, 700, 1_100, 1_500, 3_000, 40_000, 3, 2_100, 5_000, 9_000, 50_000, 100};
    try (RowStore owner = new RowStore(dir.resolve("a"), log).activate(Limits.DEFAULT);
        RowStore copy = new RowStore(dir.resolve("b"), new ArrayList<>())) {
      copy.table(); // from here on rows are folded one by one
      int followed = 0;
      for (int batch : batches) {
        while (log.size() < followed + batch) {
          storeAndRemove(owner);
        }
        copy.restore(log, followed, log.size());
        followed = log.size();
        assertHoldsTheSame(copy, owner, "a batch of " + batch);
      }
    }
  }

  /** A block is often stored and removed, or removed and stored, in one batch. */
  private void storeAndRemove(RowStore owner) {
    Engine engine = engines.get(random.nextInt(engines.size()));
    Prompt prompt = prompts.get(random.nextInt(prompts.size()));
    int end = 1 + random.nextInt(BLOCKS);
    owner.take(engine.batch(prompt.stored(GPU, 0, end)), 1);
    if (random.nextInt(3) > 0) {
      owner.take(engine.batch(prompt.removed(GPU, random.nextInt(end), end)), 1);
    }
  }

  private void assertHoldsTheSame(RowStore copy, RowStore owner, String what) {
    for (Prompt prompt : prompts) {
      assertThat(Answers.of(copy.view(), prompt.path()))
          .as(what)
          .isEqualTo(Answers.of(owner.view(), prompt.path()));
    }
    assertThat(held(copy)).as(what).isEqualTo(held(owner));
  }

  /** Those as well that no prompt finds. */
  private static List<Long> held(RowStore store) {
    PrefixIndex index = Objects.requireNonNull(store.view().tables().get(Engine.TABLE));
    List<Long> members = new ArrayList<>();
    for (int slot = 0; slot < index.owners().slots(); slot++) {
      members.add(index.members(slot));
    }
    return members;
  }
}
