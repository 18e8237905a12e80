// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.bridge.decode.WireVectors.Vector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WireVectorTest {

  static Stream<Vector> vectors() {
    return WireVectors.all().stream().filter(v -> !v.engine().equals("trtllm-json"));
  }

  static Stream<Vector> goodVectors() {
    return vectors().filter(vector -> vector.expected().has("events"));
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void shouldDecodeAsStated_whenGivenAnyProducersPayload(Vector vector) {
    DecodeResult result = vector.decoder().decode(vector.payload());

    JsonNode expected = vector.expected();
    if (expected.has("error")) {
      assertThat(result).isInstanceOf(BatchRejected.class);
      assertThat(((BatchRejected) result).reason().label())
          .isEqualTo(expected.get("error").asText());
      return;
    }
    assertThat(result).isInstanceOf(EngineBatch.class);
    EngineBatch batch = (EngineBatch) result;
    JsonNode stated = expected.get("batch");
    assertThat(batch.timestampMicros()).isEqualTo(Math.round(stated.get("ts").asDouble() * 1e6));
    JsonNode rank = stated.get("dpRank");
    assertThat(batch.rank()).isEqualTo(rank.isNull() ? null : Integer.valueOf(rank.asInt()));
    assertThat(forms(batch)).isEqualTo(expectedForms(expected));
    assertThat(skips(batch)).isEqualTo(expectedSkips(expected));
  }

  @ParameterizedTest
  @MethodSource("goodVectors")
  void shouldRejectAsTruncated_whenCutAnywhere(Vector vector) {
    byte[] payload = vector.payload();
    for (int length = 0; length < payload.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(payload, length);
      assertThat(vector.decoder().decode(cut))
          .as("first %d of %d bytes", length, payload.length)
          .isEqualTo(new BatchRejected(RejectReason.TRUNCATED));
    }
  }

  @ParameterizedTest
  @MethodSource("goodVectors")
  void shouldRejectTrailingBytes_whenAnythingFollows(Vector vector) {
    byte[] payload = vector.payload();
    byte[] longer = java.util.Arrays.copyOf(payload, payload.length + 1);
    assertThat(vector.decoder().decode(longer))
        .isEqualTo(new BatchRejected(RejectReason.TRAILING_BYTES));
  }

  @Test
  void shouldCoverAllSamples_whenCounted() {
    assertThat(WireVectors.all()).hasSize(87);
    assertThat(vectors().filter(Vector::complete)).hasSize(84);
  }

  @Test
  void shouldCompareByValue_whenDecodedTwice() {
    goodVectors()
        .forEach(
            vector ->
                assertThat(vector.decoder().decode(vector.payload()))
                    .isEqualTo(vector.decoder().decode(vector.payload())));
  }

  private static List<Map<String, Object>> forms(EngineBatch batch) {
    return batch.events().stream().map(NormalForm::of).toList();
  }

  private static List<Map<String, Object>> expectedForms(JsonNode expected) {
    List<Map<String, Object>> forms = new ArrayList<>();
    expected.get("events").forEach(event -> forms.add(NormalForm.ofExpected(event)));
    return forms;
  }

  private static List<String> skips(EngineBatch batch) {
    return batch.skipped().stream().map(s -> s.index() + " " + s.reason().label()).toList();
  }

  private static List<String> expectedSkips(JsonNode expected) {
    List<String> skips = new ArrayList<>();
    expected
        .get("skipped")
        .forEach(s -> skips.add(s.get("index").asInt() + " " + s.get("reason").asText()));
    return skips;
  }
}
