// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who was registered at a moment, told by what was written before and after it. */
class PastSourcesTest {

  private static final long WHEN_MS = 1_000;
  private static final PublisherId PUBLISHER = new PublisherId("e", "default", 0);
  private static final TableId TABLE = new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT);

  private final PastSources sources = new PastSources(Instant.ofEpochMilli(WHEN_MS), new LeftOut());

  private void control(long offset, long ms, byte @Nullable [] value) {
    byte[] key = PUBLISHER.key().getBytes(StandardCharsets.UTF_8);
    sources.take(
        new ConsumerRecord<>(
            Topics.REGISTRATIONS,
            0,
            offset,
            ms,
            TimestampType.LOG_APPEND_TIME,
            key.length,
            value == null ? 0 : value.length,
            key,
            value,
            new RecordHeaders(),
            Optional.empty()));
  }

  private void registered(long offset, long ms, String endpoint) {
    Registration registration =
        new Registration(
            PUBLISHER,
            endpoint,
            null,
            SourceType.VLLM,
            TABLE,
            List.of(""),
            null,
            SourceOptions.defaultFor(SourceType.VLLM),
            null);
    control(offset, ms, RegistrationCodec.encode(registration));
  }

  private void speaks(long generation, long life, KvEvent... events) {
    sources.hear(
        new EventRecord(
            TABLE,
            StreamId.of(PUBLISHER),
            SourceType.VLLM,
            SourceTraits.of(CopyPolicy.COUNT),
            new Incarnation(generation, life, 0),
            new Position(0, 0, true),
            null,
            1,
            List.of(events)));
  }

  private List<String> endpoints() {
    return sources.all().stream().map(one -> one.registration().endpoint()).toList();
  }

  @Test
  void shouldTakeTheRegistrationOfThatTime_whileItsRecordIsStillThere() {
    registered(5, WHEN_MS, "tcp://then:1");
    registered(6, WHEN_MS + 1, "tcp://later:1");
    assertThat(endpoints()).containsExactly("tcp://then:1");
  }

  @Test
  void shouldNotBeUnregisteredYet_whenThatCameLater() {
    registered(5, WHEN_MS, "tcp://then:1");
    control(6, WHEN_MS + 1, null);
    assertThat(endpoints()).containsExactly("tcp://then:1");
  }

  /** No bridge ran that could have said so in the log. */
  @Test
  void shouldBeUnregistered_thoughTheLogSaysSoOnlyLater() {
    control(6, WHEN_MS - 1, null);
    speaks(5, 0);
    assertThat(endpoints()).isEmpty();
    speaks(7, 0);
    assertThat(endpoints()).as("it was registered anew").hasSize(1);
  }

  @Test
  void shouldNotBringBackWhoWasRetired_withABatchThatCameLate() {
    speaks(5, 0);
    speaks(6, 0, new KvEvent.Retired());
    speaks(5, 0);
    assertThat(endpoints()).isEmpty();
    speaks(7, 0);
    assertThat(endpoints()).hasSize(1);
    speaks(6, 0, new KvEvent.Retired());
    assertThat(endpoints()).as("what ends a former life ends this one not").hasSize(1);
  }
}
