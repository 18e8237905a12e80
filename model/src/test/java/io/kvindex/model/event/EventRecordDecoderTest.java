// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.hash.HashProfile;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EventRecordDecoderTest {

  private final EventRecordDecoder decoder = new EventRecordDecoder();

  private static EventRecord random(Random random) {
    String tenant = "tenant-" + random.nextInt(3);
    String sub = random.nextBoolean() ? "" : "worker-" + random.nextInt(3);
    return new EventRecord(
        new TableId(tenant, "model-" + random.nextInt(2), 16, HashProfile.XXH3_DEFAULT),
        new StreamId(new PublisherId("engine-" + random.nextInt(50), tenant, 1), sub),
        SourceType.VLLM,
        new SourceTraits(CopyPolicy.COUNT, Set.of("disk-" + random.nextInt(2)), 0, 1),
        new Incarnation(1, random.nextInt(9), 0),
        Position.whole(random.nextInt(1000)),
        null,
        5,
        List.of(
            new KvEvent.Removed(
                new Place("GPU", 0, 0, null), Hashes.of(random.nextLong()), Hashes.EMPTY)));
  }

  private static byte[] key(EventRecord record) {
    return record.stream().key().getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void shouldReadWhatWasWritten_whenMoreStreamsSpeakInTurnThanItKnows() {
    Random random = new Random(3);
    for (int i = 0; i < 20_000; i++) {
      EventRecord record = random(random);
      byte[] bytes = EventRecordCodec.encode(record);
      assertThat(decoder.decode(key(record), bytes)).isEqualTo(record);
    }
  }

  @Test
  void shouldMakeTheStreamOnce_whenItSpeaksAgain() {
    EventRecord record = random(new Random(4));
    byte[] bytes = EventRecordCodec.encode(record);

    EventRecord first = decoder.decode(key(record), bytes);
    EventRecord second = decoder.decode(key(record), bytes.clone());

    assertThat(second.stream()).isSameAs(first.stream());
    assertThat(second.table()).isSameAs(first.table());
  }

  @Test
  void shouldSayTheSameAsTheCodec_whenBytesAreCutOrFlipped() {
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      EventRecord record = random(random);
      byte[] key = random.nextBoolean() ? key(record) : new byte[] {(byte) random.nextInt(3)};
      byte[] bytes = EventRecordCodec.encode(record);
      bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
      if (bytes.length > 0 && random.nextBoolean()) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      assertThat(said(key, bytes)).isEqualTo(saidByTheCodec(bytes));
    }
  }

  private Object said(byte[] key, byte[] bytes) {
    try {
      return decoder.decode(key, bytes);
    } catch (MalformedRecordException e) {
      return "malformed";
    }
  }

  private static Object saidByTheCodec(byte[] bytes) {
    try {
      return EventRecordCodec.decode(bytes);
    } catch (MalformedRecordException e) {
      return "malformed";
    }
  }
}
