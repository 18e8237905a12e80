// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Retired;
import io.kvindex.model.event.KvEvent.Taught;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.CheckpointedIndex;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a pool holds, what engines teach of it, and how long any of it counts. */
class PoolTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);
  private static final Place CPU = new Place("cpu", 0, 0, null);
  private static final Place DISK = new Place("disk", 0, 0, null);
  private static final Place ANY = new Place(null, 0, 0, null);

  @TempDir private Path dir;
  private final Engine engine = new Engine("e");
  private final Engine pool = new Engine("p").type(SourceType.MOONCAKE);
  private final Prompt ab = new Prompt("ab");

  private static SourceTraits traits(Set<String> persistent, int expirySeconds, int shards) {
    return new SourceTraits(CopyPolicy.SET, persistent, expirySeconds, shards);
  }

  private static Place shard(String medium, int shard) {
    return new Place(medium, 0, shard, null);
  }

  @Test
  void shouldAttachByHash_whenPoolSpeaksFirstAndAfterARestart() {
    CheckpointedIndex first = CheckpointedIndex.open(dir);
    first.take(pool.batch(ab.tokenless(CPU, 0, 1), ab.tokenless(DISK, 1, 2)), 1);
    assertThat(Answers.text(first.view(), "ab")).isEmpty();
    first.close();

    CheckpointedIndex second = CheckpointedIndex.open(dir);
    second.take(engine.batch(ab.stored(GPU)), 2);
    assertThat(Answers.text(second.view(), "ab")).isEqualTo("e/0/GPU,p/0/cpu | e/0/GPU,p/0/disk");
    second.take(engine.batch(ab.removed(GPU, 0, 2)), 3);
    second.take(pool.batch(ab.removed(ANY, 0, 1)), 4);
    second.close();

    CheckpointedIndex third = CheckpointedIndex.open(dir);
    assertThat(Answers.text(third.view(), "ab")).isEmpty();
    // The engine has let go of it, and still everybody knows what the name means.
    third.take(pool.batch(ab.tokenless(CPU, 0, 1)), 5);
    assertThat(Answers.text(third.view(), "ab")).isEqualTo("p/0/cpu | p/0/disk");
    third.close();
  }

  @Test
  void shouldNeverStandAtTheRoot_whenStoreNamesNoParent() {
    IndexDriver index = new IndexDriver();
    index.feed(pool.batch(ab.stored(CPU, StatedContext.NONE, Parent.UNKNOWN, 1, 2)));
    assertThat(index.holders("b")).isEmpty();
    index.feed(engine.batch(ab.stored(GPU)));
    assertThat(index.holders("ab")).isEqualTo("e/0/GPU | e/0/GPU,p/0/cpu");
    assertThat(index.holders("b")).isEmpty();
  }

  @Test
  void shouldEmptyTheWholePool_whenAllIsRemoved() {
    Place other = new Place("disk", 3, 0, "master-1");
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(ab.stored(GPU)));
    index.feed(pool.batch(ab.tokenless(CPU, 0, 2), ab.tokenless(other, 0, 2)));
    assertThat(index.holders("a")).isEqualTo("e/0/GPU,p/0/cpu,p/3/disk");
    index.feed(pool.batch(new Cleared(0, ClearScope.ALL)));
    assertThat(index.holders("ab")).isEqualTo("e/0/GPU | e/0/GPU");
  }

  @Test
  void shouldCountWhenAllShardsAreThere_whenBlocksAreCut() {
    pool.traits(traits(Set.of(), 0, 64));
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(ab.stored(GPU)));
    for (int shard = 63; shard >= 0; shard--) {
      assertThat(index.holders("a")).isEqualTo("e/0/GPU");
      index.feed(pool.batch(ab.tokenless(shard("cpu", shard), 0, 1)));
    }
    assertThat(index.holders("ab")).isEqualTo("e/0/GPU,p/0/cpu | e/0/GPU");
    index.feed(pool.batch(ab.removed(shard("cpu", 40), 0, 1)));
    assertThat(index.holders("a")).isEqualTo("e/0/GPU");
  }

  @Test
  void shouldNeedAllShards_whenOpenedAgainAndLinkedLater() {
    pool.traits(traits(Set.of(), 0, 2));
    CheckpointedIndex first = CheckpointedIndex.open(dir);
    first.take(pool.batch(ab.tokenless(shard("cpu", 0), 0, 2)), 1);
    first.take(pool.batch(ab.tokenless(shard("cpu", 1), 1, 2)), 1);
    first.close();
    CheckpointedIndex second = CheckpointedIndex.open(dir);
    second.take(engine.batch(ab.stored(GPU)), 2);
    assertThat(Answers.text(second.view(), "ab")).isEqualTo("e/0/GPU | e/0/GPU,p/0/cpu");
    second.close();
    CheckpointedIndex third = CheckpointedIndex.open(dir);
    assertThat(Answers.text(third.view(), "ab")).isEqualTo("e/0/GPU | e/0/GPU,p/0/cpu");
    third.take(pool.batch(ab.tokenless(shard("cpu", 1), 0, 1)), 3);
    third.take(pool.batch(new Removed(shard("cpu", 0), ab.engines(1, 2), ab.engines(0, 0))), 3);
    assertThat(Answers.text(third.view(), "ab")).isEqualTo("e/0/GPU,p/0/cpu | e/0/GPU");
    third.close();
  }

  @Test
  void shouldTeachAndHoldNothing_whenAPoolKeepsAccount() {
    IndexDriver index = new IndexDriver();
    index.feed(pool.batch(ab.tokenless(CPU, 0, 2)));
    index.feed(engine.batch(new Taught(ab.stored(CPU))));
    assertThat(index.holders("ab")).isEqualTo("p/0/cpu | p/0/cpu");
    index.feed(pool.batch(ab.removed(ANY, 0, 2)));
    assertThat(index.holders("ab")).isEmpty();
    index.feed(engine.batch(new Taught(ab.tokenless(CPU, 0, 2))));
    index.feed(pool.batch(ab.tokenless(DISK, 0, 1)));
    assertThat(index.holders("ab")).isEqualTo("p/0/disk");
  }

  @Test
  void shouldForgetWhatWasOnlyTaught_whenThereIsTooMuchOfIt() {
    Limits few = new Limits(10, Duration.ofSeconds(1), 100, 100, 3, 50_000);
    IndexDriver index = new IndexDriver(few);
    for (char c = 'a'; c < 'k'; c++) {
      index.feed(engine.batch(new Taught(new Prompt(c + "x").stored(CPU))));
    }
    assertThat(index.meanings()).isEqualTo(3);
  }

  @Test
  void shouldKeepMediaThatOutliveTheProcess_whenItStartsAgain() {
    engine.traits(traits(Set.of("DISK"), 0, 1));
    CheckpointedIndex first = CheckpointedIndex.open(dir);
    first.take(engine.batch(ab.stored(GPU), ab.stored(CPU), ab.stored(DISK)), 1);
    first.take(engine.restart().opening(), 2);
    assertThat(Answers.text(first.view(), "ab")).isEqualTo("e/0/disk | e/0/disk");
    first.close();
    CheckpointedIndex second = CheckpointedIndex.open(dir);
    assertThat(Answers.text(second.view(), "ab")).isEqualTo("e/0/disk | e/0/disk");
    second.take(engine.batch(ab.stored(GPU, 0, 1), ab.removed(DISK, 1, 2)), 3);
    assertThat(Answers.text(second.view(), "ab")).isEqualTo("e/0/GPU,e/0/disk");
    second.take(engine.batch(new Retired()), 4);
    assertThat(Answers.text(second.view(), "ab")).isEmpty();
    second.close();
  }

  private static SourceTraits diskCounted() {
    return new SourceTraits(CopyPolicy.COUNT, Set.of("DISK"), 0, 1);
  }

  @Test
  void shouldGoAtOneEviction_whenANewLifeAnnouncedWhatOutlivedTheProcess() {
    engine.traits(diskCounted());
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(ab.stored(DISK), ab.stored(GPU), ab.computed(GPU, 0, 2)));
    index.feed(engine.batch(ab.removed(GPU, 0, 2)));
    assertThat(index.holders("a")).as("copies elsewhere count").isEqualTo("e/0/GPU,e/0/disk");
    index.feed(engine.restart().opening(), engine.batch(ab.stored(DISK)));
    assertThat(index.holders("ab")).isEqualTo("e/0/disk | e/0/disk");
    index.feed(engine.batch(ab.removed(DISK, 0, 2)));
    assertThat(index.holders("ab")).isEmpty();
    assertThat(index.residencies()).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldStayDegraded_whenBlocksOfALifeWithGapsAreKept(boolean announced) {
    engine.traits(diskCounted());
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(ab.stored(DISK), new Gap(7, 9)));
    engine.batch(ab.removed(DISK, 0, 2));
    index.feed(engine.batch(ab.stored(GPU)));
    assertThat(index.view().heldRecords()).isEqualTo(1);
    engine.restart();
    index.feed(announced ? engine.opening() : engine.batch(ab.stored(GPU)));
    assertThat(index.view().heldRecords()).isZero();
    assertThat(index.view().degradedPublishers()).containsExactly(engine.stream().publisher());
    assertThat(gaps(index)).as("announced, and what was held back is lost").isEqualTo(2);
    index.feed(engine.batch(), engine.restart().opening());
    assertThat(gaps(index)).isEqualTo(2);
    index.feed(engine.batch(new Cleared(0, ClearScope.ALL)), engine.batch(ab.stored(DISK)));
    assertThat(index.view().degradedPublishers()).isEmpty();
    index.feed(engine.restart().opening());
    assertThat(index.view().degradedPublishers()).isEmpty();
  }

  private long gaps(IndexDriver index) {
    return Objects.requireNonNull(index.view().position(engine.stream())).gaps();
  }

  @Test
  void shouldNotBlameANewLife_whenNothingOfTheFormerIsKept() {
    engine.traits(diskCounted());
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(ab.stored(GPU), new Gap(7, 9)));
    index.feed(engine.restart().opening(), engine.batch(ab.stored(DISK)));
    assertThat(index.view().degradedPublishers()).isEmpty();
  }

  @Test
  void shouldForgetGroupsOfTheFormerLife_whenTheNewOneHasOthers() {
    engine.traits(diskCounted());
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(ab.stored(shard("disk", 0)), ab.stored(shard("disk", 1))));
    assertThat(index.holders("ab")).isEqualTo("e/0/disk | e/0/disk");
    index.feed(engine.restart().batch(ab.stored(GPU)));
    assertThat(index.holders("ab")).isEqualTo("e/0/GPU | e/0/GPU");
    index.feed(engine.batch(ab.stored(DISK, 0, 1)));
    assertThat(index.holders("ab")).isEqualTo("e/0/GPU,e/0/disk | e/0/GPU");
  }

  @Test
  void shouldKeepMediaThatOutliveTheProcess_whenBlocksAreCutByTheRegistration() {
    pool.traits(traits(Set.of("DISK"), 0, 2));
    IndexDriver index = new IndexDriver();
    index.feed(pool.batch(ab.stored(shard("disk", 0)), ab.stored(shard("disk", 1), 0, 1)));
    index.feed(pool.restart().opening());
    assertThat(index.holders("ab")).isEqualTo("p/0/disk");
    index.feed(pool.batch(ab.stored(shard("disk", 1), 1, 2)));
    assertThat(index.holders("ab")).isEqualTo("p/0/disk | p/0/disk");
  }

  @Test
  void shouldExpireByTheLogsTime_whenNotAnnouncedAgain() {
    pool.traits(traits(Set.of(), 80, 1));
    EventRecord[] ticks = new EventRecord[20];
    IndexDriver index = new IndexDriver();
    for (int i = 0; i < ticks.length; i++) {
      ticks[i] = engine.batch();
    }
    index.feed(new Engine("t").batch(ab.stored(GPU)));
    index.feed(pool.batch(ab.tokenless(CPU, 0, 2)));
    index.pass(Duration.ofSeconds(60)).feed(pool.batch(ab.tokenless(CPU, 0, 1)));
    index.pass(Duration.ofSeconds(9)).feed(ticks[0]);
    assertThat(index.holders("ab")).isEqualTo("p/0/cpu,t/0/GPU | p/0/cpu,t/0/GPU");
    index.sweep();
    assertThat(index.holders("ab")).isEqualTo("p/0/cpu,t/0/GPU | p/0/cpu,t/0/GPU");
    index.pass(Duration.ofSeconds(12)).feed(ticks[1]);
    assertThat(index.holders("ab")).isEqualTo("p/0/cpu,t/0/GPU | t/0/GPU");
    index.pass(Duration.ofSeconds(60)).feed(ticks[2]);
    assertThat(index.holders("ab")).isEqualTo("t/0/GPU | t/0/GPU");
    index.sweep();
    assertThat(index.residencies()).isEqualTo(2);
  }

  @Test
  void shouldRemoveFromEverySlice_whenAnnouncedSeveralTimes() {
    pool.traits(traits(Set.of(), 80, 1));
    IndexDriver index = new IndexDriver();
    index.feed(engine.batch(ab.stored(GPU, 0, 1)));
    for (int i = 0; i < 4; i++) {
      index.pass(Duration.ofSeconds(11)).feed(pool.batch(ab.tokenless(CPU, 0, 1)));
    }
    assertThat(index.holders("a")).isEqualTo("e/0/GPU,p/0/cpu");
    index.feed(pool.batch(ab.removed(ANY, 0, 1)));
    assertThat(index.holders("a")).isEqualTo("e/0/GPU");
  }

  @Test
  void shouldExpireAfterReopening_whenTimeGoesOn() {
    engine.traits(traits(Set.of(), 8, 1));
    CheckpointedIndex first = CheckpointedIndex.open(dir);
    first.take(engine.batch(ab.stored(GPU), ab.stored(CPU)), 8_000);
    first.close();
    CheckpointedIndex second = CheckpointedIndex.open(dir);
    second.take(engine.batch(), 15_999);
    assertThat(Answers.text(second.view(), "ab")).isEqualTo("e/0/GPU,e/0/cpu | e/0/GPU,e/0/cpu");
    second.take(engine.batch(), 16_000);
    assertThat(Answers.text(second.view(), "ab")).isEqualTo("e/0/GPU | e/0/GPU");
    second.close();
  }
}
