// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.RejectReason;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.decode.WireVectors;
import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What becomes of a payload on its way to the normal form. */
class PayloadTest {

  @Test
  void shouldGiveEventsAndTime_whenBatchIsGood() {
    NormalisedBatch decoded = decode("vllm_m_stored_026", 16);
    assertThat(decoded.events()).hasSize(1);
    assertThat(decoded.timestampMicros()).isEqualTo(1_760_000_000_250_000L);
    assertThat(decoded.problem()).isNull();
  }

  @Test
  void shouldNameTheReason_whenBatchIsRejected() {
    assertThat(EngineDecoder.VLLM.decode(payload("bad_truncated")))
        .isEqualTo(new BatchRejected(RejectReason.TRUNCATED));
  }

  @Test
  void shouldCountByReason_whenEventsAreSkipped() {
    assertThat(decode("bad_unknown_tag", 16).skipped())
        .isEqualTo(Map.of(SkipReason.UNKNOWN_TAG, 2));
    assertThat(decode("vllm_a6_sliding_window", 16).skipped())
        .isEqualTo(Map.of(SkipReason.ATTENTION_GROUP, 1));
  }

  @Test
  void shouldPrintBothSizesAndTheFactor_whenTheyDiffer() {
    assertThat(decode("vllm_m_stored_026", 8).problem())
        .contains("block_size 16", "registered is 8", "2 times", "dcp x pcp");
    assertThat(decode("vllm_m_stored_026", 24).problem())
        .as("one block in a group may be the beginning of a larger one")
        .isNull();
    assertThat(decode("vllm_a2_medium_rank", 12).problem())
        .contains("block_size 16", "registered is 12")
        .doesNotContain("times");
  }

  @Test
  void shouldNotBlameTheRegistration_whenOnlyAStoresChunksDiffer() {
    NormalisedBatch decoded = decode("lmcache_vllm_map", 16);
    assertThat(decoded.skipped()).isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 1));
    assertThat(decoded.problem()).isNull();
  }

  @Test
  void shouldLeaveADoubt_whenWhatCanNotBeReadMayHaveTakenBlocksAway() {
    List<Object> good = List.of("BlockRemoved", List.of(7L));
    assertThat(decode(good, List.of("BlockRemoved", "no list")).doubtful()).isTrue();
    assertThat(decode(good, List.of("BlockRemoved")).doubtful()).isTrue();
    assertThat(decode(good, 17).doubtful()).isTrue();
    assertThat(decode(List.of("BlockStored", "no list"), good).doubtful()).isFalse();
    assertThat(decode(List.of("BlockTouched", 7L), good).doubtful()).isFalse();
    assertThat(decode(good, good).doubtful()).isFalse();
  }

  private static NormalisedBatch decode(Object... events) {
    return new PayloadDecoder(registration(16), new Learned())
        .decode(Pack.bytes(List.of(1_760_000_000.25, List.of(events), 0)));
  }

  private static NormalisedBatch decode(String vector, int blockSize) {
    return new PayloadDecoder(registration(blockSize), new Learned()).decode(payload(vector));
  }

  private static byte[] payload(String vector) {
    return WireVectors.all().stream()
        .filter(v -> v.name().equals(vector))
        .findFirst()
        .orElseThrow()
        .payload();
  }

  private static Registration registration(int blockSize) {
    return new Registration(
        new PublisherId("engine-1", "default", 0),
        "tcp://127.0.0.1:5557",
        null,
        SourceType.VLLM,
        new TableId("default", "model", blockSize, HashProfile.XXH3_DEFAULT),
        List.of(""),
        null,
        SourceOptions.of(CopyPolicy.COUNT),
        null);
  }
}
