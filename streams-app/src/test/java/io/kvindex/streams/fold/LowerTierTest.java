// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.SourceType;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.KvEvent.Taught;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One engine hash is one block: what events of lower tiers leave out (salt, adapter, parent) never
 * makes another block of it, whichever event comes first.
 */
class LowerTierTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);
  private static final Place CPU = new Place("CPU", 0, 0, null);
  private static final StatedContext SALTED = new StatedContext(null, null, null, "s1");
  private static final StatedContext ADAPTED = new StatedContext("lora-a", 1L, null, null);

  private final Engine vllm = new Engine("v");
  private final Engine other = new Engine("w");
  private final Engine lower = new Engine("lmcache");
  private final Engine pool = new Engine("p").type(SourceType.MOONCAKE);
  private final Prompt abc = new Prompt("abc");

  private Stored device(StatedContext context) {
    return abc.stored(GPU, context, Parent.ROOT, 0, 3);
  }

  /** As vLLM's offload events describe blocks: one an event, no salt. */
  private KvEvent[] offloaded() {
    return new KvEvent[] {abc.stored(CPU, 1, 2), abc.stored(CPU, 0, 1), abc.stored(CPU, 2, 3)};
  }

  private String holders(IndexDriver index, StatedContext context) {
    long hash = ContextHash.of(context.loraName(), context.namespace(), context.salt());
    List<String> blocks = new ArrayList<>();
    Answers.of(index.view(), Engine.TABLE, hash, abc.seqHashes())
        .forEach(owners -> blocks.add(String.join(",", owners)));
    return String.join(" | ", blocks);
  }

  private void assertOnlySalted(IndexDriver index, String block) {
    assertThat(holders(index, SALTED)).isEqualTo(block + " | " + block + " | " + block);
    assertThat(index.holders("abc")).as("the prompt without salt").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldStaySalted_whenTheOffloadEventLeavesOutTheSalt(boolean deviceFirst) {
    IndexDriver index = new IndexDriver();
    if (deviceFirst) {
      index.feed(vllm.batch(device(SALTED)), vllm.batch(offloaded()));
    } else {
      index.feed(vllm.batch(offloaded()));
      assertThat(index.holders("abc")).as("nobody said otherwise yet").isNotEmpty();
      index.feed(vllm.batch(device(SALTED)));
    }
    assertOnlySalted(index, "v/0/CPU,v/0/GPU");
    index.feed(vllm.batch(abc.removed(GPU, 0, 3)));
    assertOnlySalted(index, "v/0/CPU");
    index.feed(vllm.batch(abc.removed(CPU, 0, 3)));
    assertThat(holders(index, SALTED)).isEmpty();
    assertThat(index.residencies()).isZero();
    assertThat(index.orphans()).isZero();
  }

  @Test
  void shouldBeHeldByHash_untilTheDeviceDescribesIt() {
    IndexDriver index = new IndexDriver();
    index.feed(vllm.batch(new Prompt("x").stored(GPU)), vllm.batch(offloaded()));
    assertThat(index.holders("abc")).isEmpty();
    assertThat(index.count(Outcome.UNDESCRIBED)).isEqualTo(3);
    index.feed(other.batch(device(SALTED)));
    assertOnlySalted(index, "v/0/CPU,w/0/GPU");
    assertThat(index.orphans()).isZero();
  }

  @Test
  void shouldLeaveTheAnswers_whenTheFirstBlockOfTheDeviceIsAnotherOne() {
    IndexDriver index = new IndexDriver();
    index.feed(vllm.batch(offloaded()));
    index.feed(vllm.batch(abc.stored(new Place("disk", 0, 0, null)), new Prompt("x").stored(GPU)));
    assertThat(index.holders("abc")).isEmpty();
    assertThat(index.count(Outcome.UNDESCRIBED)).isEqualTo(6);
    index.feed(vllm.batch(device(StatedContext.NONE)));
    assertThat(index.holders("a")).isEqualTo("v/0/CPU,v/0/GPU,v/0/disk");
    index.feed(vllm.restart().opening(), vllm.batch(offloaded()));
    assertThat(index.holders("a")).as("known from its former life").isEqualTo("v/0/CPU");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldNotCrossInstances_whenAConnectorDescribesAPoolsBlocks(boolean deviceFirst) {
    IndexDriver index = new IndexDriver();
    index.feed(pool.batch(abc.tokenless(CPU, 0, 3)));
    if (deviceFirst) {
      index.feed(vllm.batch(device(ADAPTED)), lower.batch(new Taught(abc.stored(CPU))));
    } else {
      index.feed(lower.batch(new Taught(abc.stored(CPU))));
      assertThat(index.holders("a")).isEqualTo("p/0/CPU");
      index.feed(vllm.batch(device(ADAPTED)));
    }
    assertThat(index.holders("abc")).as("the base model").isEmpty();
    assertThat(holders(index, ADAPTED))
        .isEqualTo("p/0/CPU,v/0/GPU | p/0/CPU,v/0/GPU | p/0/CPU,v/0/GPU");
  }

  @Test
  void shouldKeepItsPlace_whenAConnectorStatesAWrongParent() {
    IndexDriver index = new IndexDriver();
    index.feed(vllm.batch(device(StatedContext.NONE)));
    index.feed(vllm.batch(abc.stored(CPU, StatedContext.NONE, Parent.ROOT, 1, 3)));
    index.feed(other.batch(abc.stored(CPU, SALTED, Parent.of(77), 2, 3)));
    assertThat(index.holders("abc"))
        .isEqualTo("v/0/GPU | v/0/CPU,v/0/GPU | v/0/CPU,v/0/GPU,w/0/CPU");
    assertThat(index.holders("b")).isEmpty();
    assertThat(index.count(Outcome.HASH_DISAGREEMENT)).isZero();
  }

  /** What follows a block that the device has described is computed from there. */
  @Test
  void shouldFollowTheDevice_whenOnlyTheTailIsDescribedByALowerTier() {
    IndexDriver index = new IndexDriver();
    index.feed(vllm.batch(abc.stored(GPU, SALTED, Parent.ROOT, 0, 1)));
    index.feed(lower.batch(offloaded()));
    assertThat(holders(index, SALTED))
        .isEqualTo("lmcache/0/CPU,v/0/GPU | lmcache/0/CPU | lmcache/0/CPU");
    assertThat(index.holders("abc")).isEmpty();
  }

  /** A block of the device below one that only a lower tier has told of. */
  @Test
  void shouldWaitForTheDevice_whenItsParentIsDescribedByALowerTierOnly() {
    IndexDriver index = new IndexDriver();
    index.feed(lower.batch(abc.stored(CPU, 0, 1)), vllm.batch(abc.stored(GPU, 1, 3)));
    assertThat(index.holders("abc")).isEqualTo("lmcache/0/CPU");
    index.feed(other.batch(abc.stored(GPU, SALTED, Parent.ROOT, 0, 1)));
    assertThat(index.holders("abc")).isEmpty();
    assertThat(holders(index, SALTED)).isEqualTo("lmcache/0/CPU,w/0/GPU | v/0/GPU | v/0/GPU");
    assertThat(index.orphans()).isZero();
  }
}
