// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.query.registration.Registered;
import io.kvindex.streams.view.StreamPosition;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PublisherReportTest {

  private static final PublisherId WHO = new PublisherId("vllm-1", "default", 0);
  private static final TableId TABLE = new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT);

  @Test
  void shouldSayNothingOfLag_whenTheTableIsNotInThisReplica() {
    assertThat(report(9L, null, Map.of()).lagBatches()).isNull();
    assertThat(report(9L, null, Map.of()).lagMs(1)).isNull();
  }

  @Test
  void shouldSayNoLag_whenTheNewestBatchIsVisible() {
    PublisherReport report = report(9L, visible(7, 9), Map.of());
    assertThat(report.lagBatches()).isZero();
    assertThat(report.lagMs(99_000_000)).isZero();
  }

  @Test
  void shouldCountWhatIsMissingAndHowLong_whenBatchesAreNotVisibleYet() {
    PublisherReport report = report(9L, visible(7, 6), Map.of());
    assertThat(report.lagBatches()).isEqualTo(3);
    assertThat(report.lagMs(2_500_000)).isEqualTo(1_500);
  }

  @Test
  void shouldCountAllOfTheLife_whenOnlyTheOneBeforeIsVisible() {
    assertThat(report(9L, visible(5, 100), Map.of()).lagBatches()).isEqualTo(10);
  }

  @Test
  void shouldShowEachFigure_whenWorkersAreListed() {
    String json =
        new WorkersJson(List.of(report(9L, visible(7, 8), Map.of("GPU", 4L, "CPU", 2L))), 4_000_000)
            .write();
    assertThat(json)
        .startsWith("[{\"instance_id\":\"vllm-1\",\"source\":\"zmq\",\"status\":\"active\"")
        .endsWith(
            "\"listeners\":{\"0\":{\"endpoint\":\"tcp://h:1\",\"status\":\"active\","
                + "\"state\":\"degraded\",\"generation\":3,\"visible_event_id\":8,"
                + "\"visible_gaps\":2,"
                + "\"visible_incarnation\":{\"generation\":3,\"life\":7,\"clears\":0},"
                + "\"lag_batches\":1,\"lag_ms\":3000,"
                + "\"blocks\":{\"CPU\":2,\"GPU\":4},\"unverified\":[\"shards\",\"tier\"],"
                + "\"life\":7,\"clears\":0,"
                + "\"last_sequence\":9,\"last_event_time\":\"1970-01-01T00:00:05Z\","
                + "\"connected\":true,\"proven\":true,\"connection_since\":\"1970-01-01T00:00:04Z\","
                + "\"last_error\":\"lost\","
                + "\"counters\":{\"batches\":10,\"remarked_unverified_shards\":1,"
                + "\"remarked_unverified_tier\":2}}}}]");
  }

  /** Ids are 64 bits, unsigned. */
  @Test
  void shouldShowIdsUnsigned_whenTheyHaveTheHighestBit() {
    String json = new WorkersJson(List.of(report(-1L, visible(7, -3), Map.of())), 1).write();
    assertThat(json)
        .contains("\"visible_event_id\":18446744073709551613,")
        .contains("\"last_sequence\":18446744073709551615,")
        .contains("\"lag_batches\":2,");
  }

  @Test
  void shouldBelieveTheTable_whenItKnowsWorseThanTheBridge() {
    assertThat(state(PublisherState.ACTIVE, visible(7, 9))).isEqualTo(PublisherState.DEGRADED);
    assertThat(state(PublisherState.REPLAYING, visible(7, 9))).isEqualTo(PublisherState.DEGRADED);
    assertThat(state(PublisherState.FAILED, visible(7, 9))).isEqualTo(PublisherState.FAILED);
    assertThat(state(PublisherState.ACTIVE, visible(5, 9))).isEqualTo(PublisherState.ACTIVE);
    assertThat(state(PublisherState.ACTIVE, null)).isEqualTo(PublisherState.ACTIVE);
    StreamPosition retold =
        new StreamPosition(
            new Incarnation(3, 7, 0), EventRecord.Position.whole(9), 1, 1_000_000, 1_000, 0, true);
    assertThat(retold.degraded()).isTrue();
    assertThat(state(PublisherState.ACTIVE, retold)).isEqualTo(PublisherState.REPLAYING);
  }

  private static PublisherState state(PublisherState heard, @Nullable StreamPosition visible) {
    return report(heard, 9L, visible, Map.of()).state();
  }

  private static StreamPosition visible(long life, long event) {
    return new StreamPosition(
        new Incarnation(3, life, 0),
        EventRecord.Position.whole(event),
        1,
        1_000_000,
        1_000,
        2,
        false);
  }

  private static PublisherReport report(
      Long last, @Nullable StreamPosition visible, Map<String, Long> blocks) {
    return report(PublisherState.DEGRADED, last, visible, blocks);
  }

  private static PublisherReport report(
      PublisherState state, Long last, @Nullable StreamPosition visible, Map<String, Long> blocks) {
    BridgeProgress heard =
        new BridgeProgress(
            WHO,
            TABLE,
            SourceType.VLLM,
            3,
            7L,
            0,
            last,
            5_000_000,
            state,
            "lost",
            Map.of(
                "batches", 10L, "remarked_unverified_tier", 2L, "remarked_unverified_shards", 1L),
            Map.of(),
            List.of(),
            new Connection(true, 4_000_000, true),
            null,
            null);
    return new PublisherReport(new Registered(registration(), 3), heard, visible, blocks);
  }

  private static Registration registration() {
    String json =
        "{\"v\":1,\"instance_id\":\"vllm-1\",\"tenant_id\":\"default\",\"dp_rank\":0,"
            + "\"endpoint\":\"tcp://h:1\",\"type\":\"vLLM\",\"modelname\":\"m\",\"block_size\":16,"
            + "\"hash_algorithm\":\"xxh3\",\"hash_seed\":\"1337\",\"lora_names\":[\"\"],\"copies\":\"count\"}";
    return RegistrationCodec.decode(json.getBytes(StandardCharsets.UTF_8));
  }
}
