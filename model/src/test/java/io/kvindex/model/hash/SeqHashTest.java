// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SeqHashTest {

  @Test
  void shouldEqualTheReferenceLibrary_whenHashingEveryVector() throws IOException {
    int checked = 0;
    for (JsonNode testCase : read("seq-hash.json").get("cases")) {
      SeqHash hash = new SeqHash(Long.parseUnsignedLong(testCase.get("seed").asText()));
      int[] tokens = tokens(testCase.get("token_ids"));
      long[] locals = hash.locals(tokens, tokens.length, testCase.get("block_size").asInt());
      assertThat(locals).as("local hashes").isEqualTo(longs(testCase.get("local_hashes")));
      assertThat(hash.rolled(locals)).as("seq hashes").isEqualTo(longs(testCase.get("seq_hashes")));
      checked += locals.length;
    }
    assertThat(checked).isGreaterThan(200);
  }

  @Test
  void shouldEqualTheRfcChain_whenTokensNeedThreeBytes() throws IOException {
    JsonNode testCase = read("engine-hashes.json").get("rfc1527_xxh3_1337").get(0);
    SeqHash hash = new SeqHash(1337);
    long[] locals = new long[testCase.get("blocks").size()];
    for (int i = 0; i < locals.length; i++) {
      int[] tokens = tokens(testCase.get("blocks").get(i));
      locals[i] = hash.local(tokens, 0, tokens.length);
    }
    assertThat(locals).isEqualTo(longs(testCase.get("local")));
    assertThat(hash.rolled(locals)).isEqualTo(longs(testCase.get("seq")));
  }

  @Test
  void shouldReadOnlyTheGivenRange_whenHashingInsideALargerArray() {
    SeqHash hash = new SeqHash(1337);
    int[] padded = {9, 9, 1, 2, 3, 4, 9};
    assertThat(hash.local(padded, 2, 4)).isEqualTo(hash.local(new int[] {1, 2, 3, 4}, 0, 4));
  }

  private static JsonNode read(String name) throws IOException {
    try (InputStream in = SeqHashTest.class.getResourceAsStream("/vectors/" + name)) {
      return new ObjectMapper().readTree(Objects.requireNonNull(in));
    }
  }

  private static int[] tokens(JsonNode node) {
    int[] tokens = new int[node.size()];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (int) node.get(i).asLong();
    }
    return tokens;
  }

  private static long[] longs(JsonNode node) {
    List<Long> values = new ArrayList<>();
    node.forEach(n -> values.add(Long.parseUnsignedLong(n.asText())));
    return values.stream().mapToLong(Long::longValue).toArray();
  }
}
