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
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.model.topic.Topics;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the past can not be read from is named, and the rest is read. */
class LeftOutTest {

  private static final PublisherId PUBLISHER = new PublisherId("e", "default", 0);
  private static final TableId TABLE = new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT);

  private final LeftOut leftOut = new LeftOut();
  private final PastSources sources = new PastSources(Instant.now(), leftOut);

  private static ConsumerRecord<byte[], byte[]> event(long offset, byte @Nullable [] value) {
    return new ConsumerRecord<>(Topics.EVENTS, 3, offset, null, value);
  }

  private void registration(long offset, @Nullable String key, byte @Nullable [] value) {
    byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    sources.take(new ConsumerRecord<>(Topics.REGISTRATIONS, 0, offset, bytes, value));
  }

  private List<String> told() {
    StringWriter text = new StringWriter();
    PrintWriter out = new PrintWriter(text);
    leftOut.tell(out);
    out.flush();
    return text.toString().lines().toList();
  }

  private static byte[] garbage(int version) {
    return new byte[] {(byte) version, 1};
  }

  @Test
  void shouldCountByReason_whenEventsCanNotBeRead() {
    EventRecord whole =
        new EventRecord(
            TABLE,
            StreamId.of(PUBLISHER),
            SourceType.VLLM,
            SourceTraits.of(CopyPolicy.COUNT),
            new Incarnation(1, 1, 0),
            new Position(0, 0, true),
            null,
            1,
            List.of(new KvEvent.Retired()));
    byte[] bytes = EventRecordCodec.encode(whole);

    assertThat(leftOut.event(event(5, null))).isNull();
    assertThat(leftOut.event(event(6, bytes))).isEqualTo(whole);
    assertThat(leftOut.event(event(7, garbage(99)))).isNull();
    assertThat(leftOut.event(event(8, null))).isNull();
    assertThat(leftOut.event(event(9, garbage(bytes[0])))).isNull();

    assertThat(told()).hasSize(2);
    assertThat(told().get(0))
        .isEqualTo(
            "left out of kvindex.events: 2 without a value, the first at offset 5 of partition 3");
    assertThat(told().get(1))
        .startsWith("left out of kvindex.events: 2 malformed or of a newer version, the")
        .contains("offset 7 of partition 3: event record version 99 is not known here");
  }

  @Test
  void shouldCountByReason_whenRegistrationsCanNotBeRead() {
    Registration one =
        new Registration(
            PUBLISHER,
            "tcp://h:1",
            null,
            SourceType.VLLM,
            TABLE,
            List.of(""),
            null,
            SourceOptions.of(CopyPolicy.COUNT),
            null);
    registration(0, PUBLISHER.key(), RegistrationCodec.encode(one));
    registration(1, "site", "{}".getBytes(StandardCharsets.UTF_8));
    registration(2, "e|default|0", "{\"v\":1}".getBytes(StandardCharsets.UTF_8));
    registration(3, "nobody", null);
    registration(4, null, null);

    assertThat(sources.blockSizes("default", "m")).containsExactly(16);
    assertThat(told()).hasSize(2);
    assertThat(told().get(0))
        .startsWith("left out of kvindex.registrations: 1 malformed")
        .contains("offset 2 of partition 0: not a registration");
    assertThat(told().get(1))
        .startsWith("left out of kvindex.registrations: 2 with a key that names no")
        .endsWith("the first at offset 3 of partition 0: not a publisher key: nobody");
  }

  @Test
  void shouldSayNothing_whenAllCanBeRead() {
    registration(0, PUBLISHER.key(), null);
    assertThat(told()).isEmpty();
  }
}
