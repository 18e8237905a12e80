// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.Fuzz;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RecordSplitterTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);
  private static final int HEADER_BYTES = 200;

  @Test
  void shouldKeepOnePart_whenABatchIsEmptyOrSmall() {
    RecordSplitter splitter = new RecordSplitter(1_000);
    assertThat(splitter.split(List.of())).containsExactly(List.of());
    List<KvEvent> small = List.of(stored(Parent.ROOT, 0, 4), removed(0, 4));
    assertThat(splitter.split(small)).containsExactly(small);
  }

  @Test
  void shouldCutBetweenEvents_whenABatchIsLarge() {
    List<KvEvent> events = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      events.add(removed(i * 10L, 10));
    }
    List<List<KvEvent>> parts = new RecordSplitter(1_000).split(events);
    assertThat(parts).hasSizeGreaterThan(10);
    assertThat(parts.stream().flatMap(List::stream)).containsExactlyElementsOf(events);
  }

  @Test
  void shouldChainThePieces_whenOneEventIsTooLarge() {
    List<List<KvEvent>> parts =
        new RecordSplitter(4_096).split(List.of(stored(Parent.ROOT, 7, 5_000)));
    List<Long> hashes = new ArrayList<>();
    Parent parent = Parent.ROOT;
    assertThat(parts).hasSizeGreaterThan(15);
    for (KvEvent event : parts.stream().flatMap(List::stream).toList()) {
      Stored piece = (Stored) event;
      assertThat(piece.parent()).isEqualTo(parent);
      assertThat(piece.origin()).as("still a report, maybe").isEqualTo(Origin.UNSTATED);
      assertThat(piece.localHashes()).isEqualTo(piece.engineHashes());
      LongStream.of(piece.engineHashes().toArray()).forEach(hashes::add);
      parent = Parent.of(hashes.get(hashes.size() - 1));
    }
    assertThat(hashes).containsExactlyElementsOf(LongStream.range(7, 5_007).boxed().toList());
  }

  @Test
  void shouldHoldItsBoundForBytes_whenNamesAndHashesAreMany() {
    Random random = Fuzz.random(RecordSplitterTest.class);
    for (int run = 0; run < 200; run++) {
      int bound = 70_000 + random.nextInt(100_000);
      List<KvEvent> events = new ArrayList<>();
      for (int i = random.nextInt(30); i >= 0; i--) {
        Hashes hashes = Hashes.of(random.longs(random.nextInt(20_000)).toArray());
        Place place = new Place(name(random), random.nextInt(9), random.nextInt(9), name(random));
        StatedContext context =
            new StatedContext(name(random), random.nextLong(), name(random), name(random));
        Stored stored = new Stored(place, context, Parent.of(1), hashes, hashes, hashes);
        events.add(
            switch (random.nextInt(3)) {
              case 0 -> stored;
              case 1 -> new KvEvent.Taught(stored);
              default -> new Removed(place, hashes, hashes);
            });
      }
      for (List<KvEvent> part : new RecordSplitter(bound).split(events)) {
        assertThat(encodedLength(part)).isLessThan(bound + HEADER_BYTES);
      }
    }
  }

  /** Of one to three bytes a character, of up to the bytes decoders allow. */
  private static String name(Random random) {
    String letter = List.of("a", "\u00e9", "\u20ac").get(random.nextInt(3));
    return letter.repeat(random.nextInt(4_096 / letter.getBytes(StandardCharsets.UTF_8).length));
  }

  private static int encodedLength(List<KvEvent> events) {
    return EventRecordCodec.encode(
            new EventRecord(
                new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT),
                StreamId.of(new PublisherId("e", "default", 0)),
                SourceType.VLLM,
                SourceTraits.defaultFor(SourceType.VLLM),
                new Incarnation(1, 2, 0),
                Position.whole(3),
                null,
                4,
                events))
        .length;
  }

  private static Stored stored(Parent parent, long from, int count) {
    Hashes hashes = Hashes.of(LongStream.range(from, from + count).toArray());
    return new Stored(GPU, StatedContext.NONE, parent, hashes, hashes, Hashes.EMPTY);
  }

  private static Removed removed(long from, int count) {
    Hashes hashes = Hashes.of(LongStream.range(from, from + count).toArray());
    return new Removed(GPU, hashes, Hashes.EMPTY);
  }
}
