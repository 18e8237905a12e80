// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PartitionBacklogTest {

  private static final long START = Long.MAX_VALUE - 1_000;

  private final PartitionBacklog backlog = new PartitionBacklog(Duration.ofSeconds(2));
  private long now = START;

  @Test
  void shouldKeepUp_whenAllWasAppliedThatTheLogHeldAtFirst() {
    assertThat(backlog.found().keepsUp(now)).isFalse();
    note(100, 99, 0);
    assertThat(backlog.found().keepsUp(now)).isFalse();
    note(150, 100, 200);
    assertThat(backlog.found().caughtUp()).isTrue();
    assertThat(backlog.found().keepsUp(now)).isTrue();
    assertThat(backlog.found().records()).isEqualTo(50);
  }

  /** What another one committed seemed to be here; its rows were lost. */
  @Test
  void shouldCatchUpAnew_whenTheLogIsReadAgain() {
    note(100, 100, 0);
    assertThat(backlog.found().caughtUp()).isTrue();
    note(110, 0, 200);
    assertThat(backlog.found().caughtUp()).isFalse();
    note(120, 105, 400);
    assertThat(backlog.found().caughtUp()).isFalse();
    note(120, 110, 600);
    assertThat(backlog.found().caughtUp()).isTrue();
  }

  /** All replicas fall behind together when Kafka was away: none may send its routers away then. */
  @Test
  void shouldHaveBeenClose_howeverFarBehindItIsLater() {
    note(5_000, 0, 0);
    assertThat(backlog.found().wasClose()).isFalse();
    note(7_000, 5_000, 200);
    assertThat(backlog.found().caughtUp()).isTrue();
    assertThat(backlog.found().wasClose()).isFalse();
    note(7_500, 6_500, 400);
    assertThat(backlog.found().wasClose()).isTrue();
    note(90_000, 7_500, 600);
    assertThat(backlog.found().wasClose()).isTrue();
  }

  /** The table went to another process and is loaded again, an hour behind. */
  @Test
  void shouldBeginAnew_whenTheTableWasAway() {
    note(100, 100, 0);
    backlog.forget();
    assertThat(backlog.found().wasClose()).isFalse();
    assertThat(backlog.found().keepsUp(now)).isFalse();
    assertThat(backlog.found().records()).isEqualTo(PartitionBacklog.UNKNOWN);
    note(90_000, 100, 200);
    assertThat(backlog.found().wasClose()).isFalse();
    note(90_000, 89_900, 400);
    assertThat(backlog.found().keepsUp(now)).as("not all that was there").isFalse();
    note(90_100, 90_000, 600);
    assertThat(backlog.found().keepsUp(now)).isTrue();
  }

  @Test
  void shouldNotHaveBeenClose_whenTheLogIsReadAgain() {
    note(100, 100, 0);
    assertThat(backlog.found().wasClose()).isTrue();
    note(5_000, 0, 200);
    assertThat(backlog.found().wasClose()).isFalse();
  }

  @Test
  void shouldNotKeepUp_whileTooManyRecordsWait() {
    note(100, 100, 0);
    note(10_100, 100, 200);
    assertThat(backlog.found().keepsUp(now)).isTrue();
    note(10_101, 100, 400);
    assertThat(backlog.found().keepsUp(now)).isFalse();
    note(20_000, 19_000, 600);
    assertThat(backlog.found().keepsUp(now)).isTrue();
  }

  @Test
  void shouldNotKeepUp_whenOneRecordWaitsLongerThanTwoSeconds() {
    note(100, 100, 0);
    note(101, 100, 200);
    note(101, 100, 2_200);
    assertThat(backlog.found().keepsUp(now)).isTrue();
    note(101, 100, 2_201);
    assertThat(backlog.found().keepsUp(now)).isFalse();
    note(101, 101, 2_400);
    assertThat(backlog.found().keepsUp(now)).isTrue();
  }

  /** Always behind, never long: what waits at any look came after the look before. */
  @Test
  void shouldKeepUp_whenTheLogIsReadAsFastAsItGrows() {
    note(100, 100, 0);
    for (int i = 1; i < 1_000; i++) {
      note(100 + 50 * i, 100 + 50 * (i - 1), 200L * i);
      assertThat(backlog.found().keepsUp(now)).isTrue();
    }
  }

  /** Twenty seconds of events wait; they are applied faster than they come, oldest first. */
  @Test
  void shouldNotKeepUp_untilTheAgeOfWhatWaitsIsBelowTheBound() {
    note(0, 0, 0);
    long from = 0;
    for (int i = 1; i <= 100; i++) {
      note(10L * i, from, 200L * i);
    }
    assertThat(backlog.found().keepsUp(now)).isFalse();
    for (int i = 101; from < 10L * (i - 11); i++) {
      from += 30;
      note(10L * i, from, 200L * i);
      // The first record that waits was seen at look from / 10 + 1.
      assertThat(backlog.found().keepsUp(now)).isEqualTo(i - (from / 10 + 1) <= 10);
    }
    assertThat(backlog.found().keepsUp(now)).isTrue();
  }

  @Test
  void shouldNotKeepUp_whenTheLogCouldNotBeSeenForLong() {
    note(100, 100, 0);
    now = at(2_000);
    assertThat(backlog.found().keepsUp(now)).isTrue();
    now = at(2_001);
    assertThat(backlog.found().keepsUp(now)).isFalse();
    note(100, 100, 2_200);
    assertThat(backlog.found().keepsUp(now)).isTrue();
  }

  /** Kafka is away: what is known does not change, and may be the older the longer it lasts. */
  @Test
  void shouldGrowOld_whileTheLogCanNotBeSeen() {
    assertThat(backlog.found().ageNanos(now)).isZero();
    note(100, 100, 0);
    assertThat(backlog.found().ageNanos(at(2_000))).isZero();
    assertThat(backlog.found().ageNanos(at(2_001))).isEqualTo(TimeUnit.MILLISECONDS.toNanos(2_001));
    assertThat(backlog.found().ageNanos(at(600_000))).isEqualTo(TimeUnit.MINUTES.toNanos(10));
    note(101, 100, 601_000);
    assertThat(backlog.found().ageNanos(at(601_100)))
        .as("it may have come when nobody could look")
        .isEqualTo(TimeUnit.MILLISECONDS.toNanos(601_100));
    assertThat(backlog.found().keepsUp(at(601_100))).isFalse();
    note(102, 101, 601_200);
    assertThat(backlog.found().ageNanos(at(601_200))).isZero();
    assertThat(backlog.found().keepsUp(at(601_200))).isTrue();
    assertThat(backlog.found().done()).isOne();
    assertThat(backlog.found().total()).isEqualTo(2);
  }

  /** The machine that had its end is lost: nobody will ever apply that. */
  @Test
  void shouldNotWaitForWhatTheLogHasLost() {
    note(1_000, 900, 0);
    note(985, 950, 1_000);
    assertThat(backlog.found().ageNanos(now)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(1_000));
    assertThat(backlog.found().caughtUp()).isFalse();
    note(985, 985, 1_200);
    assertThat(backlog.found().ageNanos(now)).isZero();
    assertThat(backlog.found().caughtUp()).isTrue();
    assertThat(backlog.found().keepsUp(now)).isTrue();
  }

  /** What was visible a moment ago is not there until it is caught up again. */
  @Test
  void shouldNotKeepUp_whenTheTableWasLoadedAnewFromAnEarlierPlace() {
    note(100, 50, 0);
    note(100, 100, 200);
    assertThat(backlog.found().keepsUp(now)).isTrue();
    note(100, 80, 400);
    assertThat(backlog.found().keepsUp(now)).isFalse();
    assertThat(backlog.found().wasClose()).isFalse();
    note(100, 100, 600);
    assertThat(backlog.found().keepsUp(now)).isTrue();
  }

  private void note(long end, long from, long ms) {
    now = at(ms);
    backlog.note(end, from, now);
  }

  /** Counts on across the greatest long, as nano time may. */
  private static long at(long ms) {
    return START + TimeUnit.MILLISECONDS.toNanos(ms);
  }
}
