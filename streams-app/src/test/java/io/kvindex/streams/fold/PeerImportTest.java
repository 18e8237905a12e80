// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.KvEvent.Retired;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Blocks of a peer's dump: when they count, and what ends them. */
class PeerImportTest {

  private static final PublisherId A = new PublisherId("a", "default", 0);
  private static final Place GPU = new Place("GPU", 0, 0, null);
  private static final Place IMPORTED = PeerImport.place("GPU", 0);

  /** Generation 1, life 1: a test engine's. */
  private final Engine engine = new Engine("a");

  private final IndexDriver index = new IndexDriver();

  private static EventRecord imported(long generation, KvEvent... events) {
    return PeerImport.record(Engine.TABLE, A, SourceType.VLLM, generation, List.of(events));
  }

  private static EventRecord retired(long generation) {
    return new EventRecord(
        Engine.TABLE,
        io.kvindex.model.StreamId.of(A),
        SourceType.VLLM,
        SourceTraits.of(CopyPolicy.COUNT),
        new Incarnation(generation, PeerImport.NO_LIFE, 0),
        EventRecord.Position.whole(0),
        null,
        0,
        List.of(new Retired()));
  }

  /** The engine's next batch has that number, and what came before is lost. */
  private EventRecord joinedLate(KvEvent... events) {
    for (int i = 0; i < 7; i++) {
      engine.batch();
    }
    EventRecord next = engine.batch(events);
    return new EventRecord(
        next.table(),
        next.stream(),
        next.type(),
        next.traits(),
        next.incarnation(),
        next.position(),
        null,
        0,
        java.util.stream.Stream.concat(
                java.util.stream.Stream.of(new Gap(0, 6)), next.events().stream())
            .toList());
  }

  @Test
  void shouldAnswerAndNameThePublisher_whenBlocksWereImported() {
    index.feed(imported(1, new Prompt("ab").stored(IMPORTED)));

    assertThat(index.holders("ab")).isEqualTo("a/0/GPU | a/0/GPU");
    assertThat(index.view().degradedPublishers()).containsExactly(A);
  }

  @Test
  void shouldKeepThem_whenTheEngineIsFollowedFromTheMiddleOn() {
    index.feed(imported(1, new Prompt("ab").stored(IMPORTED)));
    index.feed(joinedLate(new Prompt("abc").stored(GPU, 2, 3)));

    assertThat(index.holders("abc")).isEqualTo("a/0/GPU | a/0/GPU | a/0/GPU");
    assertThat(index.view().degradedPublishers()).containsExactly(A);
  }

  @Test
  void shouldForgetThem_whenTheEngineTellsAllFromItsFirstBatchOn() {
    index.feed(imported(1, new Prompt("ab").stored(IMPORTED)));
    index.feed(engine.opening());
    assertThat(index.holders("ab")).isEqualTo("a/0/GPU | a/0/GPU");

    index.feed(engine.batch(new Prompt("a").stored(GPU)));

    assertThat(index.holders("ab")).isEqualTo("a/0/GPU");
    assertThat(index.view().degradedPublishers()).isEmpty();
  }

  @Test
  void shouldForgetTheBlock_whenTheEngineRemovesIt() {
    index.feed(imported(1, new Prompt("abc").stored(IMPORTED)));
    index.feed(joinedLate(new Prompt("abc").removed(GPU, 2, 3)));

    assertThat(index.holders("abc")).isEqualTo("a/0/GPU | a/0/GPU");
    assertThat(index.count(Outcome.BLOCKS_REMOVED)).isOne();
  }

  @Test
  void shouldForgetTheBlock_whenItIsRemovedUnderAnotherNameOfItsTier() {
    index.feed(imported(1, new Prompt("ab").stored(PeerImport.place("CPU_PINNED", 0))));
    index.feed(joinedLate(new Prompt("ab").removed(new Place("CPU", 0, 0, null), 0, 2)));

    assertThat(index.holders("ab")).isEmpty();
  }

  @Test
  void shouldForgetWhatAClearCovers_whenTheEngineIsCleared() {
    index.feed(
        imported(
            1,
            new Prompt("ab").stored(IMPORTED),
            new Prompt("ab").stored(PeerImport.place("CPU", 0))));
    index.feed(joinedLate(new Cleared(0, ClearScope.DEVICE)));
    assertThat(index.holders("ab")).isEqualTo("a/0/CPU | a/0/CPU");
    assertThat(index.view().degradedPublishers()).containsExactly(A);

    index.feed(engine.batch(new Cleared(0, ClearScope.ALL)));

    assertThat(index.holders("ab")).isEmpty();
    assertThat(index.view().degradedPublishers()).isEmpty();
  }

  @Test
  void shouldForgetThem_whenTheEngineRestarts() {
    index.feed(imported(1, new Prompt("ab").stored(PeerImport.place("DISK", 0))));
    SourceTraits onDisk = new SourceTraits(CopyPolicy.COUNT, Set.of("DISK"), 0, 1);
    engine.traits(onDisk);
    index.feed(joinedLate(new Prompt("x").stored(new Place("DISK", 0, 0, null))));
    assertThat(index.holders("ab")).isEqualTo("a/0/DISK | a/0/DISK");

    index.feed(engine.restart().opening());

    assertThat(index.holders("ab")).as("nobody vouches for them").isEmpty();
    assertThat(index.holders("x")).isEqualTo("a/0/DISK");
  }

  @Test
  void shouldChangeNothing_whenTheEngineHasSaidSomethingAlready() {
    index.feed(joinedLate(new Prompt("a").stored(GPU), new Prompt("a").removed(GPU, 0, 1)));
    index.feed(imported(1, new Prompt("ab").stored(IMPORTED)));

    assertThat(index.holders("ab")).isEmpty();
    assertThat(index.count(Outcome.STALE_INCARNATION)).isOne();
  }

  @Test
  void shouldSurviveTheFenceOfItsOwnGeneration_butNotTheNext() {
    index.feed(imported(5, new Prompt("ab").stored(IMPORTED)));
    index.feed(retired(5));
    assertThat(index.holders("ab")).isEqualTo("a/0/GPU | a/0/GPU");

    index.feed(retired(6));

    assertThat(index.holders("ab")).isEmpty();
    assertThat(index.view().degradedPublishers()).isEmpty();
    index.feed(imported(5, new Prompt("ab").stored(IMPORTED)));
    assertThat(index.holders("ab")).as("of a registration that is over").isEmpty();
  }

  @Test
  void shouldChangeNothingMore_whenTheSameComesAgain() {
    EventRecord record = imported(1, new Prompt("ab").stored(IMPORTED));
    index.feed(record, record, imported(1, new Prompt("abd").stored(IMPORTED, 2, 3)));

    assertThat(index.holders("abd")).isEqualTo("a/0/GPU | a/0/GPU | a/0/GPU");
    index.feed(joinedLate(new Prompt("abd").removed(GPU, 0, 3)));
    assertThat(index.holders("abd")).isEmpty();
  }

  @Test
  void shouldBelieveEngines_whenAPeerSaysThatAHashMeansSomethingElse() {
    Engine other = new Engine("b");
    index.feed(other.batch(new Prompt("ab").stored(GPU)));
    Stored truth = new Prompt("ab").stored(IMPORTED);
    Stored lie =
        new Stored(
            IMPORTED,
            StatedContext.NONE,
            Parent.ROOT,
            truth.engineHashes(),
            Hashes.of(new long[] {Prompt.local('x'), Prompt.local('y')}),
            Hashes.EMPTY);

    index.feed(imported(1, lie));

    assertThat(index.holders("xy")).isEmpty();
    assertThat(index.holders("ab")).isEqualTo("b/0/GPU | b/0/GPU");
    assertThat(index.count(Outcome.HASH_DISAGREEMENT)).isOne();
  }

  @Test
  void shouldCountOtherGroupsBlocks_whenImportedOnesHaveNone() {
    index.feed(imported(1, new Prompt("ab").stored(IMPORTED)));
    index.feed(joinedLate(new Prompt("cd").stored(new Place("GPU", 0, 1, null))));

    assertThat(index.holders("cd")).isEqualTo("a/0/GPU | a/0/GPU");
  }
}
