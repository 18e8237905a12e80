// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RecordSplitterTest {

  private static final Place GPU = Place.of("GPU", 0);

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
      assertThat(piece.localHashes()).isEqualTo(piece.engineHashes());
      LongStream.of(piece.engineHashes().toArray()).forEach(hashes::add);
      parent = Parent.of(hashes.get(hashes.size() - 1));
    }
    assertThat(hashes).containsExactlyElementsOf(LongStream.range(7, 5_007).boxed().toList());
  }

  private static Stored stored(Parent parent, long from, int count) {
    Hashes hashes = Hashes.wrap(LongStream.range(from, from + count).toArray());
    return new Stored(GPU, StatedContext.NONE, parent, hashes, hashes, Hashes.EMPTY);
  }

  private static Removed removed(long from, int count) {
    Hashes hashes = Hashes.wrap(LongStream.range(from, from + count).toArray());
    return new Removed(GPU, hashes, Hashes.EMPTY);
  }
}
