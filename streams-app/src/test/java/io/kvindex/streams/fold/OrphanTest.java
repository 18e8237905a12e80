// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Blocks whose prefix is not known (yet): invisible, never at the root, linked later. */
class OrphanTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);
  private static final Place CPU = new Place("CPU", 0, 0, null);

  private final Engine e1 = new Engine("e1");
  private final Engine e2 = new Engine("e2");
  private final Engine pool = new Engine("pool").type(SourceType.MOONCAKE);
  private final Prompt abcd = new Prompt("abcd");

  private static KvEvent unknownParent(Prompt prompt, int from, int to) {
    return prompt.stored(GPU, StatedContext.NONE, Parent.UNKNOWN, from, to);
  }

  @Test
  void shouldNeverStandAtTheRoot_whenParentIsUnknown() {
    IndexDriver index = new IndexDriver();
    index.feed(e1.batch(abcd.stored(GPU, 1, 3)), e2.batch(unknownParent(abcd, 2, 4)));
    for (String prompt : List.of("b", "bc", "c", "cd", "d", "abcd")) {
      assertThat(index.holders(prompt)).as(prompt).isEmpty();
    }
    assertThat(index.count(Outcome.ORPHANED)).isEqualTo(4);
    assertThat(index.orphans()).isEqualTo(4);
  }

  @Test
  void shouldLinkTransitively_whenBlocksArriveInAnyOrder() {
    for (List<Integer> order : permutations(List.of(0, 1, 2, 3))) {
      IndexDriver index = new IndexDriver();
      for (int block : order) {
        index.feed(new Engine("e" + block).batch(abcd.stored(GPU, block, block + 1)));
      }
      assertThat(index.holders("abcd"))
          .as("order %s", order)
          .isEqualTo("e0/0/GPU | e1/0/GPU | e2/0/GPU | e3/0/GPU");
      assertThat(index.orphans()).isZero();
      assertThat(index.count(Outcome.LINKED)).isEqualTo(index.count(Outcome.ORPHANED));
    }
  }

  private static List<List<Integer>> permutations(List<Integer> of) {
    if (of.isEmpty()) {
      return List.of(List.of());
    }
    List<List<Integer>> all = new ArrayList<>();
    for (Integer first : of) {
      List<Integer> rest = new ArrayList<>(of);
      rest.remove(first);
      for (List<Integer> tail : permutations(rest)) {
        List<Integer> one = new ArrayList<>(List.of(first));
        one.addAll(tail);
        all.add(one);
      }
    }
    return all;
  }

  @Test
  void shouldStayGone_whenRemovedBeforeItCouldBeLinked() {
    IndexDriver index = new IndexDriver();
    index.feed(
        e1.batch(abcd.stored(GPU, 1, 4)),
        e1.batch(abcd.removed(GPU, 2, 3)),
        e2.batch(abcd.stored(GPU, 0, 1)));
    assertThat(index.holders("abcd")).isEqualTo("e2/0/GPU | e1/0/GPU");
    index.feed(e2.batch(abcd.stored(GPU, 2, 3)));
    assertThat(index.holders("abcd")).isEqualTo("e2/0/GPU | e1/0/GPU | e2/0/GPU | e1/0/GPU");
    assertThat(index.orphans()).isZero();
  }

  @Test
  void shouldNotComeBack_whenRemovedAndLinkedInOneRecord() {
    IndexDriver index = new IndexDriver();
    index.feed(e1.batch(abcd.stored(GPU, 1, 2)));
    index.feed(e1.batch(abcd.removed(GPU, 1, 2), abcd.stored(GPU, 0, 1)));
    assertThat(index.holders("ab")).isEqualTo("e1/0/GPU");
    assertThat(index.orphans()).isZero();
    index.feed(e2.batch(abcd.stored(GPU, 2, 3), abcd.stored(GPU, 0, 2)));
    assertThat(index.holders("abc")).isEqualTo("e1/0/GPU,e2/0/GPU | e2/0/GPU | e2/0/GPU");
    assertThat(index.orphans()).isZero();
  }

  @Test
  void shouldResolveByName_whenStoredWithoutTokens() {
    IndexDriver index = new IndexDriver();
    index.feed(pool.batch(abcd.tokenless(new Place("DISK", 0, 0, null), 0, 3)));
    assertThat(index.holders("abcd")).isEmpty();
    index.feed(e1.batch(abcd.stored(GPU)));
    assertThat(index.holders("abcd"))
        .isEqualTo("e1/0/GPU,pool/0/DISK | e1/0/GPU,pool/0/DISK | e1/0/GPU,pool/0/DISK | e1/0/GPU");
    index.feed(e1.batch(abcd.removed(GPU, 0, 4)), e1.batch(abcd.tokenless(CPU, 0, 1)));
    assertThat(index.holders("abcd")).isEqualTo("e1/0/CPU,pool/0/DISK | pool/0/DISK | pool/0/DISK");
    assertThat(index.orphans()).isZero();
  }

  @Test
  void shouldKeepItsParent_whenOrphanIsAnnouncedAgainWithoutTokens() {
    IndexDriver index = new IndexDriver();
    index.feed(e1.batch(abcd.stored(GPU, 1, 2)), e1.batch(abcd.tokenless(GPU, 1, 2)));
    index.feed(e2.batch(abcd.stored(GPU, 0, 1)));
    assertThat(index.holders("ab")).isEqualTo("e2/0/GPU | e1/0/GPU");
  }

  @Test
  void shouldNotGoRound_whenHashesNameEachOther() {
    Prompt loop = new Prompt("lm");
    EventRecord there = e1.batch(loop.stored(GPU, 1, 2));
    EventRecord back =
        e1.batch(loop.stored(GPU, StatedContext.NONE, Parent.of(Prompt.engineHash("lm")), 0, 1));
    IndexDriver index = new IndexDriver();
    index.feed(there, back, e2.batch(loop.stored(GPU)));
    assertThat(index.holders("lm")).isEqualTo("e1/0/GPU,e2/0/GPU | e1/0/GPU,e2/0/GPU");
  }

  @Test
  void shouldKeepNoMore_whenTooManyWait() {
    Limits two = new Limits(10, Duration.ofSeconds(30), 2, 1000, 1000, 50_000);
    IndexDriver index = new IndexDriver(two);
    index.feed(e1.batch(abcd.stored(GPU, 1, 4)));
    assertThat(index.count(Outcome.ORPHAN_LIMIT)).isEqualTo(1);
    index.feed(e1.batch(abcd.stored(GPU, 0, 1)), e1.batch(abcd.removed(GPU, 3, 4)));
    assertThat(index.holders("abcd")).isEqualTo("e1/0/GPU | e1/0/GPU | e1/0/GPU");
    assertThat(index.count(Outcome.REMOVED_UNKNOWN)).isEqualTo(1);
  }

  @Test
  void shouldUseSpaceOfItsOwn_whenPublisherMeansSomethingElse() {
    Prompt other = new Prompt("xy");
    KvEvent.Stored wrong =
        new KvEvent.Stored(
            GPU,
            StatedContext.NONE,
            Parent.ROOT,
            new Prompt("ab").engines(0, 2),
            other.locals(0, 2),
            io.kvindex.model.event.Hashes.EMPTY);
    IndexDriver index = new IndexDriver();
    index.feed(e1.batch(abcd.stored(GPU, 0, 2)), e2.batch(wrong));
    assertThat(index.count(Outcome.HASH_DISAGREEMENT)).isEqualTo(1);
    assertThat(index.holders("abcd")).isEqualTo("e1/0/GPU | e1/0/GPU");
    assertThat(index.holders("xy")).isEqualTo("e2/0/GPU | e2/0/GPU");
    index.feed(e2.batch(abcd.tokenless(CPU, 0, 1)), pool.batch(abcd.tokenless(CPU, 0, 1)));
    assertThat(index.holders("xy")).isEqualTo("e2/0/CPU,e2/0/GPU | e2/0/GPU");
    assertThat(index.holders("ab")).isEqualTo("e1/0/GPU,pool/0/CPU | e1/0/GPU");
    index.feed(e2.batch(abcd.removed(GPU, 0, 2)));
    assertThat(index.holders("xy")).isEqualTo("e2/0/CPU");
    assertThat(index.holders("ab")).isEqualTo("e1/0/GPU,pool/0/CPU | e1/0/GPU");
  }

  @Test
  void shouldInheritContext_whenContinuationDoesNotStateIt() {
    StatedContext salted = new StatedContext("lora-a", null, null, "s");
    Parent a = Parent.of(Prompt.engineHash("a"));
    long[] keys = abcd.seqHashes();
    IndexDriver index = new IndexDriver();
    index.feed(
        e1.batch(abcd.stored(GPU, StatedContext.NONE, Parent.of(Prompt.engineHash("ab")), 2, 3)),
        e1.batch(abcd.stored(GPU, StatedContext.NONE, a, 1, 2)),
        e1.batch(abcd.stored(GPU, salted, Parent.ROOT, 0, 1)));
    assertThat(index.holders("abc")).isEmpty();
    assertThat(
            Answers.of(
                index.view(),
                Engine.TABLE,
                ContextHash.of(salted.loraName(), salted.namespace(), salted.salt()),
                keys))
        .hasSize(3);
    assertThat(index.view().contexts(Engine.TABLE))
        .extracting(c -> c.loraName() + "/" + c.salt())
        .containsExactly("lora-a/s");
  }

  @Test
  void shouldLiveApart_whenBlockHasExtraContent() {
    KvEvent.Stored picture =
        new KvEvent.Stored(
            GPU,
            StatedContext.NONE,
            Parent.ROOT,
            abcd.engines(0, 3),
            abcd.locals(0, 3),
            io.kvindex.model.event.Hashes.of(0, 77, 0));
    long below = io.kvindex.model.hash.ContextHash.withExtra(0, 77);
    long[] keys = abcd.seqHashes();
    IndexDriver index = new IndexDriver();
    index.feed(e1.batch(picture));
    assertThat(index.holders("abcd")).isEqualTo("e1/0/GPU");
    long[] tail = Arrays.copyOfRange(keys, 1, 3);
    assertThat(Answers.of(index.view(), Engine.TABLE, below, tail)).hasSize(2);
  }
}
