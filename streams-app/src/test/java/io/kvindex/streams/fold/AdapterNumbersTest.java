// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.streams.fixture.CheckpointedIndex;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an adapter's number means on each instance, learned from events. */
class AdapterNumbersTest {

  @TempDir private Path dir;

  @Test
  void shouldLearnPerInstance_whenEventsHaveNumberAndName() {
    IndexDriver index = new IndexDriver();
    index.feed(stored(new Engine("e1"), 7, "sql"), stored(new Engine("e2"), 7, "chat"));
    assertThat(name(index, "e1", 7)).isEqualTo("sql");
    assertThat(name(index, "e2", 7)).isEqualTo("chat");
    assertThat(name(index, "e1", 8)).isNull();
  }

  @Test
  void shouldKeepTheName_whenALaterEventHasTheNumberAlone() {
    Engine engine = new Engine("e1");
    IndexDriver index = new IndexDriver();
    index.feed(stored(engine, 7, "sql"), stored(engine, 7, StatedContext.nameOf(7)));
    assertThat(name(index, "e1", 7)).isEqualTo("sql");
    index.feed(stored(engine, 7, "sql-v2"));
    assertThat(name(index, "e1", 7)).isEqualTo("sql-v2");
  }

  /** As vLLM's resolver plugins make them. */
  @Test
  void shouldTellNumbersApart_whenTheyHave63Bits() {
    long wide = 0x7FFF_FFFF_0000_0007L;
    Engine engine = new Engine("e1");
    IndexDriver index = new IndexDriver();
    index.feed(
        stored(engine, wide, "sql"),
        stored(engine, 7, "chat"),
        stored(engine, 0xFFFF_FFFFL, "math"));
    assertThat(name(index, "e1", wide)).isEqualTo("sql");
    assertThat(name(index, "e1", 7)).isEqualTo("chat");
    assertThat(name(index, "e1", 0xFFFF_FFFFL)).isEqualTo("math");
    assertThat(name(index, "e1", -1)).isNull();
    assertThat(index.adapters()).isEqualTo(3);
    try (CheckpointedIndex rows = CheckpointedIndex.open(dir)) {
      rows.take(stored(new Engine("e1"), wide, "sql"), 1);
    }
    try (CheckpointedIndex rows = CheckpointedIndex.open(dir)) {
      assertThat(rows.view().loraName(Engine.TABLE, "e1", wide))
          .as("read from its row")
          .isEqualTo("sql");
    }
  }

  @Test
  void shouldCountAndKeepTheFirst_whenNumbersHaveNoEnd() {
    Limits limits = new Limits(1_000, Duration.ofSeconds(30), 1_000, 3, 1_000, 50_000);
    Engine engine = new Engine("e1");
    IndexDriver index = new IndexDriver(limits);
    for (int id = 1; id <= 3; id++) {
      index.feed(stored(engine, id, "sql"));
    }
    assertThat(index.count(Outcome.CONTEXT_LIMIT)).isZero();
    index.feed(stored(engine, 4, "sql"), stored(engine, 5, "sql"), stored(engine, 1, "chat"));
    assertThat(index.count(Outcome.CONTEXT_LIMIT)).isEqualTo(2);
    assertThat(name(index, "e1", 1)).isEqualTo("chat");
    assertThat(name(index, "e1", 4)).isNull();
    assertThat(index.adapters()).isEqualTo(3);
  }

  private static EventRecord stored(Engine engine, long id, String name) {
    return engine.batch(
        new Stored(
            new Place("GPU", 0, 0, null),
            new StatedContext(name, id, null, null),
            Parent.ROOT,
            Hashes.of(name.hashCode()),
            Hashes.of(3),
            Hashes.EMPTY));
  }

  private static @org.jspecify.annotations.Nullable String name(
      IndexDriver index, String instance, long id) {
    return index.view().loraName(Engine.TABLE, instance, id);
  }
}
