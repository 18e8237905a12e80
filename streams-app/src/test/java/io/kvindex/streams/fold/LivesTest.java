// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.KvEvent.Retired;
import io.kvindex.model.event.KvEvent.Retold;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** New lives, clears and retirement: what is dead is in no answer, and its rows go. */
class LivesTest {

  private final Engine e1 = new Engine("e1");
  private final Engine e2 = new Engine("e2");
  private final Prompt abc = new Prompt("abc");
  private EventRecord everywhere = e1.batch();

  @BeforeEach
  void holdsEverywhere() {
    everywhere =
        e1.batch(
            abc.stored(new Place("GPU", 0, 0, null)),
            abc.stored(new Place("CPU", 0, 0, null)),
            abc.stored(new Place("DISK", 0, 0, null)),
            abc.stored(new Place("NPU", 1, 0, null)),
            abc.stored(new Place(null, 1, 0, null)));
  }

  private IndexDriver started() {
    IndexDriver index = new IndexDriver();
    index.feed(
        new Engine("e1").batch(), everywhere, e2.batch(abc.stored(new Place("GPU", 0, 0, null))));
    assertThat(index.holders("a"))
        .isEqualTo("e1/0/CPU,e1/0/DISK,e1/0/GPU,e1/1/NPU,e1/1/null,e2/0/GPU");
    return index;
  }

  @Test
  void shouldHideEverythingAtOnce_whenNewLifeBegins() {
    IndexDriver index = started();
    EventRecord late = e1.batch(new Prompt("late").stored(new Place("GPU", 0, 0, null)));
    index.feed(e1.restart().batch());
    assertThat(index.holders("abc")).isEqualTo("e2/0/GPU | e2/0/GPU | e2/0/GPU");
    index.feed(late, everywhere);
    assertThat(index.holders("late")).isEmpty();
    assertThat(index.count(Outcome.STALE_INCARNATION)).isEqualTo(6);
  }

  @Test
  void shouldHideTheOldLife_whenTheNewOneIsOnlyAnnounced() {
    IndexDriver index = started();
    index.feed(e1.batch(new Gap(7, 9)));
    EventRecord late = e1.batch(new Prompt("late").stored(new Place("GPU", 0, 0, null)));
    EventRecord early = e1.batch(new Prompt("early").stored(new Place("GPU", 0, 0, null)));
    index.feed(early, e1.restart().opening());
    assertThat(index.holders("abc")).isEqualTo("e2/0/GPU | e2/0/GPU | e2/0/GPU");
    assertThat(Objects.requireNonNull(index.view().position(e1.stream())).degraded()).isFalse();
    index.feed(late, e1.batch(abc.stored(new Place("GPU", 0, 0, null), 0, 1)), e1.opening());
    assertThat(index.holders("late")).isEmpty();
    assertThat(index.holders("a")).isEqualTo("e1/0/GPU,e2/0/GPU");
    assertThat(index.holders("early")).isEmpty();
    assertThat(index.count(Outcome.STALE_INCARNATION)).isEqualTo(2);
    assertThat(index.count(Outcome.DUPLICATE)).isEqualTo(1);
    assertThat(index.count(Outcome.HELD_BACK)).isEqualTo(1);
  }

  @Test
  void shouldNameItDegraded_untilAllIsToldAgain() {
    IndexDriver index = started();
    index.feed(e1.batch(new Gap(7, 9)));
    index.feed(e1.restart().opening(true), e1.opening(true));
    assertThat(index.view().degradedPublishers()).containsExactly(e1.stream().publisher());
    index.feed(
        e1.batch(new Cleared(0, ClearScope.ALL), abc.stored(new Place("GPU", 0, 0, null), 0, 1)));
    assertThat(index.view().degradedPublishers()).containsExactly(e1.stream().publisher());
    EventRecord last = e1.batch(abc.stored(new Place("GPU", 0, 0, null), 1, 2), new Retold());
    index.feed(last, last, e1.batch());
    assertThat(index.view().degradedPublishers()).isEmpty();
    assertThat(index.holders("ab")).isEqualTo("e1/0/GPU,e2/0/GPU | e1/0/GPU,e2/0/GPU");
    index.feed(e1.restart().opening(true), e1.batch(new Gap(0, 3), new Retold()));
    assertThat(index.view().degradedPublishers())
        .as("told, but not all of it")
        .containsExactly(e1.stream().publisher());
    index.feed(e1.restart().opening(true), e1.restart().opening());
    assertThat(index.view().degradedPublishers()).as("an engine that was restarted").isEmpty();
  }

  /** Which of two tables knows more is told by it, so it must never go back. */
  @Test
  void shouldTellTheNewestOffset_whateverComes() {
    IndexDriver index = new IndexDriver();
    index.feed(e2.batch(), e2.batch());
    assertNewest(index, 1);
    index.feed(e2.restart().opening());
    assertNewest(index, 2);
    EventRecord first = e2.batch();
    EventRecord second = e2.batch();
    index.feed(second, first);
    assertNewest(index, 4);
    e2.restart();
    first = e2.batch();
    index.feed(e2.batch());
    assertNewest(index, 5);
    index.feed(first);
    assertNewest(index, 6);
  }

  private static void assertNewest(IndexDriver index, long offset) {
    assertThat(index.view().appliedOffset()).isEqualTo(offset);
  }

  @Test
  void shouldDropWhatOlderLivesSay_whenTheFirstThingHeardIsANewLife() {
    Engine e3 = new Engine("e3");
    IndexDriver index = new IndexDriver();
    EventRecord old = e3.batch(abc.stored(new Place("GPU", 0, 0, null)));
    index.feed(e3.restart().opening(), old);
    assertThat(index.holders("a")).isEmpty();
    index.feed(e3.batch(abc.stored(new Place("GPU", 0, 0, null))));
    assertThat(index.holders("a")).isEqualTo("e3/0/GPU");
  }

  @Test
  void shouldDeleteRows_whenOwnersDied() {
    IndexDriver index = started();
    index.feed(e1.restart().batch(new Prompt("x").stored(new Place("GPU", 0, 0, null))));
    index.sweep();
    assertThat(index.residencies()).isEqualTo(4);
    assertThat(index.owners()).isEqualTo(2);
    assertThat(index.holders("x")).isEqualTo("e1/0/GPU");
  }

  @Test
  void shouldForgetOrphans_whenTheirOwnerDied() {
    Place gpu = new Place("GPU", 0, 0, null);
    Prompt qrs = new Prompt("qrs");
    IndexDriver index = new IndexDriver();
    index.feed(new Engine("e1").batch(), e1.batch(qrs.stored(gpu, 1, 3)), everywhere);
    index.feed(e1.restart().batch());
    index.sweep();
    assertThat(index.orphans()).isZero();
    index.feed(e2.batch(qrs.stored(gpu, 0, 1)));
    assertThat(index.holders("qrs")).isEqualTo("e2/0/GPU");
  }

  @Test
  void shouldForgetMeanings_whenOwnersThatHeldThemDied() {
    Limits few = new Limits(10, Duration.ofSeconds(30), 1000, 1000, 2, 50_000);
    Place gpu = new Place("GPU", 0, 0, null);
    IndexDriver index = new IndexDriver(few);
    index.feed(e1.restart().batch(new Prompt("abcdefgh").stored(gpu)));
    index.feed(e1.restart().batch());
    index.sweep();
    index.feed(e2.batch());
    assertThat(index.meanings()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    "DEVICE, 0, 'e1/0/CPU,e1/0/DISK,e1/1/NPU,e1/1/null,e2/0/GPU'",
    "DEVICE, 1, 'e1/0/CPU,e1/0/DISK,e1/0/GPU,e2/0/GPU'",
    "DEVICE_AND_HOST, 0, 'e1/0/DISK,e1/1/NPU,e1/1/null,e2/0/GPU'",
    "ALL, 0, 'e2/0/GPU'"
  })
  void shouldHideScope_whenCleared(ClearScope scope, int rank, String left) {
    IndexDriver index = started();
    index.feed(e1.batch(new Cleared(rank, scope)));
    assertThat(index.holders("abc")).isEqualTo(left + " | " + left + " | " + left);
    index.feed(e1.batch(abc.stored(new Place("GPU", rank, 0, null), 0, 1)));
    assertThat(index.holders("abc")).contains("e1/" + rank + "/GPU");
  }

  @Test
  void shouldHideEverything_whenRetired() {
    IndexDriver index = started();
    index.feed(e1.batch(new Gap(5, 9), new Retired()));
    assertThat(index.holders("a")).isEqualTo("e2/0/GPU");
    assertThat(Objects.requireNonNull(index.view().position(e1.stream())).degraded()).isFalse();
    assertThat(index.count(Outcome.GAP)).isEqualTo(1);
  }

  @Test
  void shouldStayDegraded_whenGapWasAnnouncedUntilNothingOldIsLeft() {
    IndexDriver index = started();
    index.feed(e1.batch(new Gap(5, 9)));
    assertThat(Objects.requireNonNull(index.view().position(e1.stream())).gaps()).isEqualTo(1);
    index.feed(e1.batch(new Cleared(0, ClearScope.DEVICE)));
    assertThat(Objects.requireNonNull(index.view().position(e1.stream())).degraded()).isTrue();
    index.feed(e1.batch(new Cleared(0, ClearScope.ALL)));
    assertThat(Objects.requireNonNull(index.view().position(e1.stream())).degraded()).isFalse();
    index.feed(e1.batch(new Gap(12, 12)));
    index.feed(e1.restart().batch());
    assertThat(Objects.requireNonNull(index.view().position(e1.stream())).degraded()).isFalse();
  }

  @Test
  void shouldKeepMeaning_whenLifeThatTaughtItIsOver() {
    Place gpu = new Place("GPU", 0, 0, null);
    IndexDriver index = started();
    index.feed(
        e2.batch(abc.removed(gpu, 0, 3)),
        e1.restart()
            .batch(abc.stored(gpu, StatedContext.NONE, Parent.of(Prompt.engineHash("a")), 1, 2)));
    assertThat(index.holders("ab")).isEmpty();
    index.feed(e2.batch(abc.tokenless(new Place("CPU", 0, 0, null), 0, 1)));
    assertThat(index.holders("ab")).isEqualTo("e2/0/CPU | e1/0/GPU");
  }
}
