// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables whose prefix hashes are the engine's own, and publishers that send prefix hashes. */
class HashProfileTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);
  private static final Place CPU = new Place("CPU", 0, 0, null);
  private static final long[] CHAIN = {11, 12, 13};

  private static TableId table(Algorithm algorithm) {
    return new TableId("default", "model", 2, HashProfile.of(algorithm));
  }

  private static KvEvent stored(
      Place place, @Nullable String lora, @Nullable String salt, Parent parent, long... hashes) {
    return new KvEvent.Stored(
        place,
        new StatedContext(lora, null, "ns", salt),
        parent,
        Hashes.of(hashes),
        Hashes.EMPTY,
        Hashes.EMPTY);
  }

  private static String holders(
      IndexDriver index,
      TableId table,
      @Nullable String lora,
      @Nullable String namespace,
      @Nullable String salt) {
    long context = table.hashProfile().context(lora, namespace, salt);
    return Answers.of(index.view(), table, context, CHAIN).stream()
        .map(owners -> String.join(",", owners))
        .collect(Collectors.joining(" | "));
  }

  @ParameterizedTest
  @EnumSource(names = {"VLLM_SHA256_CBOR", "VLLM_SHA256"})
  void shouldLandOnTheSameKey_whenStoresOfAVllmBlockStateLessEachTime(Algorithm algorithm) {
    TableId table = table(algorithm);
    Engine engine = new Engine("e").table(table);
    Engine store = new Engine("pool").table(table).type(SourceType.MOONCAKE);
    IndexDriver index = new IndexDriver();
    index.feed(
        engine.batch(stored(CPU, null, null, Parent.UNKNOWN, 13)),
        engine.batch(stored(GPU, "ad", null, Parent.of(11), 12)),
        store.batch(stored(new Place("DISK", 0, 0, null), null, null, Parent.UNKNOWN, 12)),
        engine.batch(stored(GPU, "ad", "salt", Parent.ROOT, 11)));
    assertThat(holders(index, table, null, "ns", null))
        .isEqualTo("e/0/GPU | e/0/GPU,pool/0/DISK | e/0/CPU");
    assertThat(holders(index, table, "other", "ns", "other"))
        .as("adapter and salt are in the hashes asked for")
        .isEqualTo("e/0/GPU | e/0/GPU,pool/0/DISK | e/0/CPU");
    assertThat(holders(index, table, null, null, null)).isEmpty();
    assertThat(holders(index, table, null, "other", null)).isEmpty();
    assertThat(index.count(Outcome.ORPHANED)).isZero();
    assertThat(index.orphans()).isZero();
  }

  @Test
  void shouldComeAndGo_whenAVllmEngineNeverSendsTokens() {
    TableId table = table(Algorithm.VLLM_SHA256_CBOR);
    Engine engine = new Engine("e").table(table);
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(stored(GPU, null, null, Parent.UNKNOWN, CHAIN)));
    index.feed(
        engine.batch(new KvEvent.Removed(GPU, Hashes.of(12), Hashes.EMPTY)),
        engine.batch(stored(CPU, null, null, Parent.UNKNOWN, 12)));
    assertThat(holders(index, table, null, "ns", null)).isEqualTo("e/0/GPU | e/0/CPU | e/0/GPU");
  }

  @Test
  void shouldNeverShareBlocks_whenTwoAdaptersOfSglangHashAlike() {
    TableId table = table(Algorithm.SGLANG_SHA256);
    Engine a = new Engine("a").table(table).type(SourceType.SGLANG);
    Engine b = new Engine("b").table(table).type(SourceType.SGLANG);
    IndexDriver index = new IndexDriver();
    index.feed(
        a.batch(stored(GPU, "one", null, Parent.ROOT, CHAIN)),
        b.batch(stored(GPU, "two", null, Parent.ROOT, 11)),
        b.batch(stored(GPU, "two", null, Parent.of(11), 12)));
    assertThat(holders(index, table, "one", "ns", null)).isEqualTo("a/0/GPU | a/0/GPU | a/0/GPU");
    assertThat(holders(index, table, "two", "ns", null)).isEqualTo("b/0/GPU | b/0/GPU");
    assertThat(holders(index, table, null, "ns", null)).isEmpty();
    assertThat(holders(index, table, "one", "ns", "in-the-hash"))
        .isEqualTo("a/0/GPU | a/0/GPU | a/0/GPU");
    index.feed(
        a.batch(stored(CPU, null, null, Parent.UNKNOWN, CHAIN)),
        b.batch(stored(CPU, null, null, Parent.UNKNOWN, 11, 12)));
    assertThat(holders(index, table, "one", "ns", null))
        .isEqualTo("a/0/CPU,a/0/GPU | a/0/CPU,a/0/GPU | a/0/CPU,a/0/GPU");
    assertThat(holders(index, table, "two", "ns", null))
        .isEqualTo("b/0/CPU,b/0/GPU | b/0/CPU,b/0/GPU");
    assertThat(holders(index, table, null, "ns", null)).isEmpty();
  }

  @Test
  void shouldBelieveItsOwnRegistration_whenAnotherHasTheSameNameForAnotherAdapter() {
    TableId table = table(Algorithm.SGLANG_SHA256);
    Engine a = new Engine("a").table(table).type(SourceType.SGLANG);
    Engine b = new Engine("b").table(table).type(SourceType.SGLANG);
    IndexDriver index = new IndexDriver();
    index.feed(
        a.batch(stored(GPU, "one", null, Parent.ROOT, CHAIN)),
        b.batch(stored(GPU, "two", null, Parent.UNKNOWN, CHAIN)));
    assertThat(holders(index, table, "one", "ns", null)).isEqualTo("a/0/GPU | a/0/GPU | a/0/GPU");
    assertThat(holders(index, table, "two", "ns", null)).isEqualTo("b/0/GPU | b/0/GPU | b/0/GPU");
    index.feed(
        b.batch(
            new KvEvent.Removed(GPU, Hashes.of(CHAIN), Hashes.EMPTY),
            stored(CPU, null, null, Parent.UNKNOWN, CHAIN)));
    assertThat(holders(index, table, "two", "ns", null)).isEqualTo("b/0/CPU | b/0/CPU | b/0/CPU");
  }

  @Test
  void shouldForgetOneAdapter_whenOneEngineNamesBlocksOfTwoAlike() {
    TableId table = table(Algorithm.SGLANG_SHA256);
    Engine engine = new Engine("e").table(table).type(SourceType.SGLANG);
    IndexDriver index = new IndexDriver();
    index.feed(
        engine.batch(stored(GPU, "one", null, Parent.ROOT, CHAIN)),
        engine.batch(stored(GPU, "two", null, Parent.ROOT, 11, 12)));
    assertThat(holders(index, table, "two", "ns", null)).isEqualTo("e/0/GPU | e/0/GPU");
    assertThat(holders(index, table, "one", "ns", null)).as("a miss, no ghost").isEmpty();
    index.feed(engine.batch(new KvEvent.Removed(GPU, Hashes.of(11), Hashes.EMPTY)));
    assertThat(holders(index, table, "two", "ns", null)).isEmpty();
  }

  /** The bridge sends local hashes where names are not what the profile says. */
  @ParameterizedTest
  @EnumSource(names = {"VLLM_SHA256", "SGLANG_SHA256"})
  void shouldIndexByTokens_whenTheProfileDoesNotExplainTheNames(Algorithm algorithm) {
    TableId table = table(algorithm);
    HashProfile profile = table.hashProfile();
    Engine engine = new Engine("e").table(table);
    Engine other = new Engine("f").table(table);
    long[] locals = {101, 102, 103};
    SeqHash rule = new SeqHash(1337);
    long[] byTokens = rule.rolled(locals);
    IndexDriver index = new IndexDriver();
    index.feed(
        engine.batch(byTokens("one", Parent.ROOT, new long[] {11, 12}, 101, 102)),
        engine.batch(stored(CPU, "one", null, Parent.UNKNOWN, 12)),
        other.batch(stored(GPU, null, null, Parent.ROOT, 21)),
        engine.batch(byTokens("one", Parent.of(12), new long[] {13}, 103)));
    long context = profile.context("one", "ns", null);
    assertThat(Answers.of(index.view(), table, context, byTokens).toString())
        .isEqualTo("[[e/0/GPU], [e/0/CPU, e/0/GPU], [e/0/GPU]]");
    // Under SGLang's rule one name may be of several adapters, under vLLM's it is one block.
    String named = algorithm == Algorithm.VLLM_SHA256 ? "e/0/GPU | e/0/CPU,e/0/GPU | e/0/GPU" : "";
    assertThat(holders(index, table, "one", "ns", null)).as("by its names").isEqualTo(named);
    assertThat(holders(index, table, null, "ns", null)).as("nothing named").isEqualTo(named);
    assertThat(holders(index, table, "one", null, null)).as("other namespace").isEmpty();
    assertThat(Answers.of(index.view(), table, profile.context("one", null, null), byTokens))
        .isEmpty();
    index.feed(engine.batch(new KvEvent.Removed(GPU, Hashes.of(12), Hashes.EMPTY)));
    assertThat(Answers.of(index.view(), table, context, byTokens).toString())
        .isEqualTo("[[e/0/GPU], [e/0/CPU], [e/0/GPU]]");
    assertThat(holders(index, table, "one", "ns", null))
        .isEqualTo(named.replace("e/0/CPU,e/0/GPU", "e/0/CPU"));
    index.feed(
        engine.batch(
            new KvEvent.Removed(GPU, Hashes.of(11, 13), Hashes.EMPTY),
            new KvEvent.Removed(CPU, Hashes.of(12), Hashes.EMPTY)));
    assertThat(Answers.of(index.view(), table, context, byTokens)).isEmpty();
    assertThat(holders(index, table, "one", "ns", null)).isEmpty();
    assertThat(index.count(Outcome.HASH_DISAGREEMENT)).isZero();
  }

  private static KvEvent byTokens(String lora, Parent parent, long[] hashes, long... locals) {
    return new KvEvent.Stored(
        GPU,
        new StatedContext(lora, null, "ns", null),
        parent,
        Hashes.of(hashes),
        Hashes.of(locals),
        Hashes.EMPTY);
  }

  /** Names without adapters in them may be another's block: only what is held here moves. */
  @Test
  void shouldNotTakeAnothersMeaning_whenNamesDoNotTellAdaptersApart() {
    TableId table = table(Algorithm.SGLANG_SHA256);
    Engine a = new Engine("a").table(table).type(SourceType.SGLANG);
    Engine b = new Engine("b").table(table).type(SourceType.SGLANG);
    IndexDriver index = new IndexDriver();
    index.feed(
        a.batch(byTokens("one", Parent.ROOT, new long[] {11}, 101)),
        b.batch(stored(CPU, null, null, Parent.UNKNOWN, 11)));
    long context = table.hashProfile().context("one", "ns", null);
    assertThat(Answers.of(index.view(), table, context, 101).toString()).isEqualTo("[[a/0/GPU]]");
  }

  @ParameterizedTest
  @EnumSource
  void shouldUseTheirHashesAsTheyAre_whenPublishersAreStandardOnes(Algorithm algorithm) {
    TableId table = table(algorithm);
    Engine engine = new Engine("e").table(table).type(SourceType.KV_EVENTS);
    Engine other = new Engine("f").table(table).type(SourceType.KV_EVENTS);
    IndexDriver index = new IndexDriver();
    index.feed(
        engine.batch(stored(GPU, "ad", "salt", Parent.of(12), 13)),
        engine.batch(stored(GPU, "ad", "salt", Parent.UNKNOWN, 11, 12)),
        other.batch(stored(GPU, "ad", "other", Parent.UNKNOWN, 11)));
    String own = "e/0/GPU | e/0/GPU | e/0/GPU";
    boolean salted = algorithm.coversSalt();
    assertThat(holders(index, table, "ad", "ns", "salt"))
        .isEqualTo(salted ? "e/0/GPU,f/0/GPU | e/0/GPU | e/0/GPU" : own);
    assertThat(holders(index, table, "ad", "ns", "other"))
        .isEqualTo(salted ? "e/0/GPU,f/0/GPU | e/0/GPU | e/0/GPU" : "f/0/GPU");
    assertThat(holders(index, table, "ad", null, "salt")).isEmpty();
    assertThat(holders(index, table, null, "ns", "salt").isEmpty())
        .isEqualTo(!algorithm.coversLora());
    assertThat(index.count(Outcome.ORPHANED)).isZero();
  }

  @Test
  void shouldHashTokens_whenAStandardPublishersHashesAreItsOwn() {
    Engine engine = new Engine("e").type(SourceType.KV_EVENTS);
    Prompt prompt = new Prompt("abc");
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(prompt.stored(GPU, 1, 3)));
    assertThat(index.holders("abc")).isEmpty();
    index.feed(engine.batch(prompt.stored(GPU, 0, 1)));
    assertThat(index.holders("abc")).isEqualTo("e/0/GPU | e/0/GPU | e/0/GPU");
  }

  @Test
  void shouldBelieveTokens_whenAStandardPublisherWithItsOwnHashesSendsNoneForOnce() {
    Engine engine = new Engine("e").type(SourceType.KV_EVENTS);
    Prompt prompt = new Prompt("abc");
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(prompt.stored(GPU)));
    index.feed(engine.batch(prompt.tokenless(CPU, 0, 2), prompt.tokenless(GPU, 2, 3)));
    assertThat(index.holders("abc")).isEqualTo("e/0/CPU,e/0/GPU | e/0/CPU,e/0/GPU | e/0/GPU");
    index.feed(engine.batch(prompt.removed(GPU, 0, 3)));
    assertThat(index.holders("abc")).isEqualTo("e/0/CPU | e/0/CPU");
    index.feed(engine.batch(prompt.stored(GPU, 2, 3)));
    assertThat(index.holders("abc")).isEqualTo("e/0/CPU | e/0/CPU | e/0/GPU");
    assertThat(index.count(Outcome.HASH_DISAGREEMENT)).isZero();
  }
}
