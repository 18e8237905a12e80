// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.query.prompt.Contexts.Names;
import io.kvindex.streams.index.BlockKeys;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ContextKeysTest {

  private static final int SIZE = 4;
  private static final String MARKED = "dynamo-cache-salt:salt";
  private static final Function<String, Collection<String>> PATHS =
      lora -> lora.equals("sql") ? List.of("/models/sql", "/mnt/sql") : List.of();

  /** Asks as a walk does: a few, then chunks, each context in turn. */
  private static Set<List<Long>> keys(ContextKeys prompt, int blocks) {
    int lanes = prompt.xors().length;
    BlockKeys[] chains = new BlockKeys[lanes];
    Arrays.setAll(chains, prompt::in);
    long[][] found = new long[lanes][blocks];
    long[] chunk = new long[32];
    int from = 0;
    for (int max = 4, got = 1; got > 0; from += got, max = 32) {
      BlockKeys before = null;
      for (int c = 0; c < lanes; c++) {
        got = chains[c] == before ? got : chains[c].fill(chunk, from, max);
        before = chains[c];
        for (int i = 0; i < got; i++) {
          found[c][from + i] = chunk[i] ^ prompt.xors()[c];
        }
      }
    }
    assertThat(from).isEqualTo(blocks);
    return Arrays.stream(found)
        .map(chain -> Arrays.stream(chain).boxed().toList())
        .collect(Collectors.toSet());
  }

  /** What an engine's blocks of these tokens are indexed by. */
  private static List<Long> chain(PromptHasher begun, int[] tokens, long xor) {
    return IntStream.range(0, tokens.length / SIZE)
        .mapToObj(i -> begun.next(tokens, i * SIZE, SIZE) ^ xor)
        .toList();
  }

  @ParameterizedTest
  @EnumSource
  void shouldGiveEachContextItsChains_whenAskedInTurns(Algorithm algorithm) {
    HashProfile profile = HashProfile.of(algorithm);
    ContextKeys keys = new ContextKeys(profile);
    for (int length : new int[] {3, 5, 30, 403}) {
      int[] tokens = new Random(length).ints(length).toArray();
      List<Names> contexts = Contexts.of(List.of("sql", "id:3"), MARKED);
      Set<List<Long>> expected = new HashSet<>();
      for (Names names : contexts) {
        long xor = profile.context(names.lora(), names.namespace(), names.salt());
        if (algorithm.isEngineNamed()) {
          expected.addAll(ownChains(profile, names, tokens, xor));
        }
        PromptHasher byTokens = PromptHasher.of(profile.byTokens());
        byTokens.begin(names.lora(), names.salt());
        expected.add(chain(byTokens, tokens, xor));
        PromptHasher byPairs = PromptHasher.ofPairs(profile.byTokens());
        byPairs.begin(names.lora(), names.salt());
        expected.add(chain(byPairs, tokens, xor));
      }
      keys.ofTokens(tokens, tokens.length, SIZE, contexts, PATHS);
      assertThat(keys(keys, length / SIZE)).isEqualTo(expected);
    }
  }

  private static Set<List<Long>> ownChains(
      HashProfile profile, Names names, int[] tokens, long xor) {
    Set<List<Long>> chains = new HashSet<>();
    PromptHasher hasher = PromptHasher.of(profile);
    for (String salt : names.salt().isEmpty() ? List.of("") : List.of("salt", MARKED)) {
      hasher.begin(names.lora(), salt);
      chains.add(chain(hasher, tokens, xor));
      for (String path : PATHS.apply(names.lora())) {
        hasher.beginTagged(names.lora(), path, salt);
        chains.add(chain(hasher, tokens, xor));
      }
    }
    return chains;
  }

  @Test
  void shouldHashTheSaltInBothWays_whenVllmServesTheBaseModel() {
    HashProfile profile = HashProfile.of(Algorithm.VLLM_SHA256);
    ContextKeys keys = new ContextKeys(profile);
    int[] tokens = {1, 2, 3, 4, 5};
    PromptHasher tagged = PromptHasher.of(profile);
    tagged.beginTagged(null, null, "s");
    keys.ofTokens(tokens, tokens.length, SIZE, Contexts.ofRequest("", "s"), PATHS);
    assertThat(keys(keys, 1)).contains(chain(tagged, tokens, 0)).hasSize(6);
    keys.ofTokens(tokens, tokens.length, SIZE, Contexts.ofRequest("", ""), PATHS);
    assertThat(keys.xors()).as("own, by tokens, by pairs").hasSize(3);
    assertThat(keys.isOptional(0)).isFalse();
    assertThat(keys.isOptional(1) && keys.isOptional(2)).isTrue();
  }

  /** 13 tokens, pages of 4 pairs: 12 pairs, 3 pages. */
  @Test
  void shouldHashOneTokenMore_whenBlocksAreOfPairs() {
    ContextKeys keys = new ContextKeys(HashProfile.XXH3_DEFAULT);
    SeqHash rule = new SeqHash(1337);
    int[] tokens = IntStream.range(0, 13).toArray();
    long first = rule.local(tokens, 0, 5);
    long second = rule.roll(first, rule.local(tokens, 4, 5));
    long third = rule.roll(second, rule.local(tokens, 8, 5));
    keys.ofTokens(tokens, 13, SIZE, Contexts.of("", ""), PATHS);
    assertThat(keys(keys, 3)).contains(List.of(first, second, third)).hasSize(2);
    keys.ofTokens(tokens, 12, SIZE, Contexts.of("", ""), PATHS);
    assertThat(keys(keys, 3))
        .as("the last pair is missing")
        .anyMatch(chain -> chain.subList(0, 2).equals(List.of(first, second)))
        .noneMatch(chain -> chain.contains(third));
  }

  @Test
  void shouldXorWhatTheHashLeavesOut_whenProfilesDiffer() {
    List<Names> names = Contexts.of("sql", "x");
    for (Algorithm algorithm : Algorithm.values()) {
      HashProfile profile = HashProfile.of(algorithm);
      long asNamespace = profile.context("sql", "x", null);
      long asSalt = profile.context("sql", null, "x");
      assertThat(Contexts.keys(profile, names)).containsExactly(asNamespace, asSalt);
      assertThat(asNamespace).as("namespaces are in no hash").isNotEqualTo(asSalt);
      assertThat(Arrays.stream(Contexts.keys(profile, Contexts.of("", ""))).sum()).isZero();
    }
  }
}
