// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.WireVectors;
import io.kvindex.bridge.follow.BatchDecoder.Decoded;
import io.kvindex.bridge.normalise.Learned;
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

class EngineBatchDecoderTest {

  private static final BatchDecoder.Factory FACTORY = EngineBatchDecoder::new;

  @Test
  void shouldGiveEventsAndTime_whenBatchIsGood() {
    Decoded decoded = decode("vllm_m_stored_026", 16);
    assertThat(decoded.events()).hasSize(1);
    assertThat(decoded.sourceMicros()).isEqualTo(1_760_000_000_250_000L);
    assertThat(decoded.rejected()).isNull();
    assertThat(decoded.mismatch()).isNull();
  }

  @Test
  void shouldNameTheReason_whenBatchIsRejected() {
    assertThat(decode("bad_truncated", 16)).isEqualTo(Decoded.rejected("truncated"));
  }

  @Test
  void shouldCountByReason_whenEventsAreSkipped() {
    assertThat(decode("bad_unknown_tag", 16).skipped()).isEqualTo(Map.of("unknown_tag", 2L));
    assertThat(decode("vllm_a6_sliding_window", 16).skipped())
        .isEqualTo(Map.of("attention_group", 1L));
  }

  @Test
  void shouldPrintBothSizesAndTheFactor_whenTheyDiffer() {
    assertThat(decode("vllm_m_stored_026", 8).mismatch())
        .contains("block_size 16", "registered is 8", "2 times", "dcp x pcp");
    assertThat(decode("vllm_m_stored_026", 64).mismatch())
        .contains("block_size 16", "registered is 64")
        .doesNotContain("times");
  }

  @Test
  void shouldNotBlameTheRegistration_whenOnlyAStoresChunksDiffer() {
    Decoded decoded = decode("lmcache_vllm_map", 16);
    assertThat(decoded.skipped()).isEqualTo(Map.of("block_size_mismatch", 1L));
    assertThat(decoded.mismatch()).isNull();
  }

  private static Decoded decode(String vector, int blockSize) {
    Registration registration =
        new Registration(
            new PublisherId("engine-1", "default", 0),
            "tcp://127.0.0.1:5557",
            null,
            SourceType.VLLM,
            new TableId("default", "model", blockSize, HashProfile.XXH3_DEFAULT),
            List.of(""),
            null,
            SourceOptions.of(CopyPolicy.COUNT),
            null);
    byte[] payload =
        WireVectors.all().stream()
            .filter(v -> v.name().equals(vector))
            .findFirst()
            .orElseThrow()
            .payload();
    return FACTORY.create(registration, new Learned()).decode(payload);
  }
}
