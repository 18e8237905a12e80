// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceReaderTest {
  private static final TraceTokens TOKENS = TraceTokens.standard();

  @TempDir Path dir;

  private static List<TraceRequest> all(TraceReader reader) throws IOException {
    List<TraceRequest> requests = new ArrayList<>();
    try (reader) {
      for (TraceRequest r = reader.next(); r != null; r = reader.next()) {
        requests.add(r);
      }
    }
    return requests;
  }

  private TraceReader reader(String text) throws IOException {
    return TraceReader.open(Files.writeString(dir.resolve("t.jsonl"), text));
  }

  @Test
  void shouldHoldTheFirstRequestsOfTheRelease_whenBundled() throws IOException {
    List<TraceRequest> requests = all(TraceReader.bundled());
    assertThat(requests).hasSize(TraceReader.BUNDLED_REQUESTS);
    TraceRequest first = requests.get(0);
    assertThat(first.timestampMs()).isZero();
    assertThat(first.inputLength()).isEqualTo(6758);
    assertThat(first.outputLength()).isEqualTo(500);
    assertThat(first.hashIds()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
    assertThat(requests.get(1).hashIds()).startsWith(0, 14, 15);
    assertThat(requests).extracting(TraceRequest::timestampMs).isSorted();
    try (InputStream notice = TraceReader.class.getResourceAsStream("NOTICE-trace.txt")) {
      assertThat(new String(notice.readAllBytes(), StandardCharsets.UTF_8))
          .contains("Apache License", "Mooncake");
    }
  }

  @Test
  void shouldShareTokensExactlyAsFarAsIdsAreShared_whenPromptsAreMade() throws IOException {
    List<TraceRequest> requests = all(TraceReader.bundled());
    int[] first = requests.get(0).tokens(TOKENS);
    int[] second = requests.get(1).tokens(TOKENS);
    assertThat(first).hasSize(6758);
    assertThat(second).hasSize(7322);
    assertThat(Arrays.mismatch(first, second)).isBetween(512, 514);
    for (TraceRequest request : requests.subList(0, 200)) {
      int[] tokens = request.tokens(TOKENS);
      assertThat(tokens).hasSize(request.inputLength());
      assertThat(Arrays.stream(tokens).allMatch(t -> t >= 0 && t < TraceTokens.VOCABULARY))
          .isTrue();
    }
  }

  /** These tokens may never change: recorded runs are compared with new ones. */
  @Test
  void shouldGiveTheSameTokens_whenRunAgainAnywhere() {
    int[] tokens = new TraceRequest(0, 515, 0, new int[] {0, 7}).tokens(TOKENS);
    assertThat(Arrays.copyOf(tokens, 4)).containsExactly(43270, 34448, 34760, 61461);
    assertThat(Arrays.copyOfRange(tokens, 512, 515)).containsExactly(121620, 112599, 115341);
    assertThat(new TraceRequest(0, 515, 0, new int[] {0, 7}).tokens(new TraceTokens(1)))
        .isNotEqualTo(tokens);
  }

  @Test
  void shouldSpreadOverTheVocabulary_whenManyIdsAreUsed() {
    int ids = 2_000;
    int[] perTenth = new int[10];
    for (int id = 0; id < ids; id++) {
      for (int token : new TraceRequest(0, 512, 0, new int[] {id}).tokens(TOKENS)) {
        perTenth[token / (TraceTokens.VOCABULARY / 10)]++;
      }
    }
    int expected = ids * 512 / 10;
    assertThat(Arrays.stream(perTenth).boxed())
        .allSatisfy(n -> assertThat(n).isBetween(expected * 98 / 100, expected * 102 / 100));
  }

  @Test
  void shouldSkipBlankLinesAndReadGzip_whenFilesDiffer() throws IOException {
    String line =
        "{\"timestamp\": 5, \"input_length\": 3, \"output_length\": 1, \"hash_ids\": [9]}";
    assertThat(all(reader("\n" + line + "\n\n" + line))).hasSize(2);
    assertThat(all(reader(""))).isEmpty();
    try (InputStream in = TraceReader.class.getResourceAsStream("conversation-2500.jsonl.gz")) {
      Path copy = dir.resolve("copy.gz");
      Files.copy(in, copy);
      assertThat(all(TraceReader.open(copy))).hasSize(TraceReader.BUNDLED_REQUESTS);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "not json | Unrecognized token",
        "7 | hash_ids is not a list",
        "{\"timestamp\":0,\"input_length\":3,\"output_length\":1} | hash_ids is not a list",
        "{\"timestamp\":0,\"input_length\":3,\"output_length\":1,\"hash_ids\":[1,2]} | need 1 hash ids, got 2",
        "{\"timestamp\":0,\"input_length\":0,\"output_length\":1,\"hash_ids\":[]} | empty request",
        "{\"timestamp\":-1,\"input_length\":1,\"output_length\":1,\"hash_ids\":[1]} | timestamp is out of range",
        "{\"timestamp\":0,\"input_length\":\"3\",\"output_length\":1,\"hash_ids\":[1]} | input_length is not a whole number",
        "{\"timestamp\":0,\"input_length\":3,\"output_length\":1,\"hash_ids\":[1.5]} | hash_ids is not a whole number",
        "{\"timestamp\":0,\"input_length\":9999999999,\"output_length\":1,\"hash_ids\":[1]} | input_length is out of range",
      })
  void shouldNameFileLineAndReason_whenALineIsBad(String line, String reason) throws IOException {
    try (TraceReader reader = reader("\n" + line)) {
      assertThatThrownBy(reader::next)
          .isInstanceOf(TraceFormatException.class)
          .hasMessageContaining("t.jsonl line 2: ")
          .hasMessageContaining(reason);
    }
  }
}
