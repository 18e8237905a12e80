// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.hash.HashProfile;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EventRecordCodecTest {

  private static final TableId TABLE =
      new TableId("default", "deepseek", 16, HashProfile.XXH3_DEFAULT);
  private static final StreamId STREAM = StreamId.of(new PublisherId("e|0", "default", 1));

  private static EventRecord record(@Nullable Long after, KvEvent... events) {
    return new EventRecord(
        TABLE,
        STREAM,
        SourceType.VLLM,
        SourceTraits.of(CopyPolicy.COUNT),
        new Incarnation(7, 9, 1),
        new Position(-3L, 2, true),
        after,
        1_760_000_000_250_000L,
        List.of(events));
  }

  private static KvEvent stored(Parent parent, Origin origin) {
    return new KvEvent.Stored(
        new Place("GPU", 0, 0, null),
        StatedContext.NONE,
        parent,
        Hashes.of(8),
        Hashes.of(9),
        Hashes.EMPTY,
        origin);
  }

  private static EventRecord everyKind() {
    return record(
        41L,
        new KvEvent.Stored(
            new Place("GPU", 1, 0, "w0"),
            new StatedContext("lora", 1L << 62, "w8a8", "salt"),
            Parent.of(-1L),
            Hashes.of(1, -2, 3),
            Hashes.of(4, 5, 6),
            Hashes.of(0, 0, 9)),
        new KvEvent.Stored(
            new Place(null, 0, 0, null),
            StatedContext.NONE,
            Parent.ROOT,
            Hashes.of(8),
            Hashes.EMPTY,
            Hashes.EMPTY),
        new KvEvent.Stored(
            new Place("cpu", 0, 0, null),
            StatedContext.NONE,
            Parent.UNKNOWN,
            Hashes.of(8),
            Hashes.EMPTY,
            Hashes.EMPTY),
        stored(Parent.ROOT, Origin.NEW),
        stored(Parent.ROOT, Origin.REUSED),
        stored(Parent.of(3), Origin.UNSTATED),
        new KvEvent.Removed(new Place("CPU", 0, 0, null), Hashes.of(1, 1), Hashes.of(1, 0)),
        new KvEvent.Cleared(3, KvEvent.ClearScope.DEVICE_AND_HOST),
        new KvEvent.Gap(5, 9),
        new KvEvent.Retired(),
        new KvEvent.Begun(false),
        new KvEvent.Begun(true),
        new KvEvent.Retold(),
        new KvEvent.Taught(
            new KvEvent.Stored(
                new Place("cpu", 0, 0, null),
                StatedContext.NONE,
                Parent.of(7),
                Hashes.of(8),
                Hashes.of(9),
                Hashes.EMPTY)));
  }

  @Test
  void shouldReadBackWhatItWrote_whenEveryKindIsUsed() {
    EventRecord record = everyKind();
    assertThat(EventRecordCodec.decode(EventRecordCodec.encode(record))).isEqualTo(record);
    EventRecord pool =
        new EventRecord(
            TABLE,
            STREAM,
            SourceType.MOONCAKE,
            new SourceTraits(CopyPolicy.SET, Set.of("DISK", "OPTANE"), 3600, 64),
            new Incarnation(7, 9, 1),
            Position.whole(1),
            null,
            0,
            List.of());
    assertThat(EventRecordCodec.decode(EventRecordCodec.encode(pool))).isEqualTo(pool);
    EventRecord atStart = record(null);
    assertThat(EventRecordCodec.decode(EventRecordCodec.encode(atStart))).isEqualTo(atStart);
  }

  /** These bytes are in users' topics: this test may get new lines, never changed ones. */
  @Test
  void shouldStillReadVersionOne_whenBytesWereWrittenLongAgo() {
    EventRecord record =
        record(
            41L,
            new KvEvent.Removed(
                new Place("GPU", 1, 0, null), Hashes.of(0x8aacae47f66585edL), Hashes.EMPTY));
    String written =
        "010100"
            + "0864656661756c74"
            + "09646565707365656b"
            + "10"
            + "01"
            + "0531333337"
            + "04657c30"
            + "0864656661756c74"
            + "01"
            + "01"
            + "0e1202"
            + "fdffffffffffffffff01"
            + "02"
            + "03"
            + "29"
            + "a0c28eedbdada006"
            + "01"
            + "02"
            + "04475055"
            + "01"
            + "00"
            + "00"
            + "01"
            + "8aacae47f66585ed"
            + "00";
    assertThat(EventRecordCodec.decode(HexFormat.of().parseHex(written))).isEqualTo(record);
    String now = written.replaceFirst("^010100", "020100" + "00" + "00" + "01");
    assertThat(HexFormat.of().formatHex(EventRecordCodec.encode(record))).isEqualTo(now);
    assertThat(EventRecordCodec.decode(HexFormat.of().parseHex(now))).isEqualTo(record);
  }

  @Test
  void shouldRefuseClearly_whenTheVersionIsNewer() {
    byte[] bytes = EventRecordCodec.encode(everyKind());
    bytes[0] = 3;
    assertThatThrownBy(() -> EventRecordCodec.decode(bytes))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessage("event record version 3 is not known here (newest known: 2)");
  }

  @Test
  void shouldOnlyThrowMalformed_whenBytesAreCutOrFlipped() {
    byte[] good = EventRecordCodec.encode(everyKind());
    for (int length = 0; length < good.length; length++) {
      byte[] cut = Arrays.copyOf(good, length);
      assertThatThrownBy(() -> EventRecordCodec.decode(cut))
          .isInstanceOf(MalformedRecordException.class);
    }
    Random random = new Random(7);
    for (int i = 0; i < 20_000; i++) {
      byte[] flipped = good.clone();
      flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
      try {
        EventRecordCodec.decode(flipped);
      } catch (MalformedRecordException expected) {
        assertThat(expected).hasMessageNotContaining("null");
      }
    }
  }
}
