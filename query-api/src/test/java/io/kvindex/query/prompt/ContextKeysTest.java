// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.query.prompt.Contexts.Names;
import io.kvindex.streams.index.BlockKeys;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ContextKeysTest {

  private static final int SIZE = 4;

  private static long[] expected(HashProfile profile, int[] tokens, Names names) {
    PromptHasher hasher = PromptHasher.of(profile);
    hasher.begin(names.lora(), names.salt());
    long[] hashes = new long[hasher.blocks(tokens.length, SIZE)];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = hasher.next(tokens, i * SIZE, SIZE);
    }
    return hashes;
  }

  /** Asks as a walk does: a few, then chunks, each context in turn. */
  @ParameterizedTest
  @EnumSource
  void shouldGiveEachContextItsChain_whenAskedInTurns(Algorithm algorithm) {
    HashProfile profile = HashProfile.of(algorithm);
    ContextKeys keys = new ContextKeys(profile);
    for (int length : new int[] {0, 3, 4, 30, 403}) {
      int[] tokens = new Random(length).ints(length).toArray();
      List<Names> names = Contexts.of(List.of("sql", "id:3"), "salt");
      BlockKeys prompt = keys.ofTokens(tokens, tokens.length, SIZE, names);
      long[][] found = new long[names.size()][tokens.length / SIZE];
      long[] chunk = new long[32];
      int from = 0;
      for (int count = 4, got = 1; got > 0; from += got, count = 32) {
        for (int c = 0; c < names.size(); c++) {
          got = prompt.in(c).fill(chunk, from, count);
          System.arraycopy(chunk, 0, found[c], from, got);
        }
      }
      for (int c = 0; c < names.size(); c++) {
        assertThat(found[c]).isEqualTo(expected(profile, tokens, names.get(c)));
      }
    }
  }

  @Test
  void shouldLeaveOutTheLastToken_whenItsPairIsNotThere() {
    HashProfile pairs = new HashProfile(Algorithm.SGLANG_SHA256, HashProfile.BIGRAM);
    int[] tokens = {1, 2, 3, 4, 5, 6, 7, 8};
    BlockKeys keys =
        new ContextKeys(pairs).ofTokens(tokens, tokens.length, SIZE, Contexts.of("", ""));
    assertThat(keys.in(0).fill(new long[4], 0, 4)).isEqualTo(1);
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
