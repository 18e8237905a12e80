// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.CheckpointedIndex;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a table knows of a log whose beginning, or middle, was gone before it was read. */
class CutLogTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);

  @TempDir private Path dir;
  private final Engine quiet = new Engine("quiet");

  /** A batch behind one that was cut off. */
  private static EventRecord afterLost(Engine engine) {
    engine.batch(new Prompt("ab").stored(GPU));
    return engine.batch(new Prompt("xy").stored(GPU));
  }

  private CheckpointedIndex store(String name) {
    return CheckpointedIndex.open(dir.resolve(name));
  }

  /** The table is loaded again, and then the engine speaks again. */
  private void assertGoesOnDegraded() {
    EventRecord later = afterLost(quiet);
    try (CheckpointedIndex next = store("first")) {
      next.take(later, 2_000);
      assertThat(Answers.text(next.view(), "xy")).contains("quiet/0/GPU");
      assertThat(next.view().degradedPublishers()).contains(quiet.stream().publisher());
      assertThat(next.view().heldRecords()).isZero();
    }
  }

  @Test
  void shouldRememberIt_whenTheTableIsLoadedAgain() {
    try (CheckpointedIndex first = store("first")) {
      first.startsAt(17);
      first.take(afterLost(new Engine("heard")), 1_000);
    }
    assertGoesOnDegraded();
  }

  @Test
  void shouldRememberAHole_whenTheTableIsLoadedAgain() {
    try (CheckpointedIndex first = store("first")) {
      first.startsAt(0);
      first.take(new Engine("heard").batch(new Prompt("ab").stored(GPU)), 1_000);
      first.missRecords();
    }
    assertGoesOnDegraded();
  }

  /** That its records may be among the missing ones is kept, too. */
  @Test
  void shouldWaitForNothing_whenAStreamThatIsKnownGoesOnAfterARestart() {
    try (CheckpointedIndex first = store("first")) {
      first.startsAt(0);
      first.take(quiet.batch(new Prompt("cd").stored(GPU)), 1_000);
      first.missRecords();
    }
    assertGoesOnDegraded();
  }

  /** Its predecessor may still come. */
  @Test
  void shouldWait_whereTheLogWasWhole() {
    try (CheckpointedIndex whole = store("whole")) {
      whole.startsAt(0);
      whole.take(new Engine("heard").batch(new Prompt("ab").stored(GPU)), 1_000);
      whole.take(afterLost(quiet), 1_000);
      assertThat(whole.view().heldRecords()).isOne();
      assertThat(whole.view().degradedPublishers()).isEmpty();
    }
  }

  @Test
  void shouldNotTrustALifeAlone_whereAFormerOneMayHaveLeftBlocksOnDisk() {
    SourceTraits keepsDisk = new SourceTraits(CopyPolicy.SET, Set.of("DISK"), 0, 1);
    Engine disk = new Engine("disk").traits(keepsDisk).restart();
    Engine memory = new Engine("memory").restart();
    try (CheckpointedIndex cut = store("cut");
        CheckpointedIndex whole = store("whole")) {
      cut.startsAt(17);
      cut.take(disk.opening(), 1_000);
      cut.take(memory.opening(), 1_000);
      assertThat(cut.view().degradedPublishers()).containsExactly(disk.stream().publisher());
      whole.startsAt(0);
      whole.take(disk.opening(), 1_000);
      assertThat(whole.view().degradedPublishers()).isEmpty();
    }
  }
}
