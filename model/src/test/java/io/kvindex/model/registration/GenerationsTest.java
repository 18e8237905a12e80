// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Generations.Placed;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GenerationsTest {

  private static final Generations FIRST = Generations.FIRST;

  private static Registration continuing(@Nullable Long generation) {
    return new Registration(
        new PublisherId("e1", "default", 0),
        "tcp://h:1",
        null,
        SourceType.VLLM,
        new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT),
        List.of(""),
        null,
        SourceOptions.of(CopyPolicy.COUNT),
        generation);
  }

  @Test
  void shouldBeTheOffset_whenNothingIsContinued() {
    assertThat(FIRST.of(continuing(null), 7, null)).isEqualTo(7);
    assertThat(FIRST.of(continuing(null), 7, new Placed(5, 5))).isEqualTo(7);
    assertThat(FIRST.ofFirst(continuing(null), 7)).isEqualTo(7);
  }

  @Test
  void shouldGoOn_whenWhatIsReplacedHasThatGeneration() {
    assertThat(FIRST.of(continuing(5L), 8, new Placed(5, 5))).isEqualTo(5);
    assertThat(FIRST.of(continuing(5L), 9, new Placed(8, 5))).isEqualTo(5);
  }

  @Test
  void shouldBeItsOwn_whenCrossedByAReplacement() {
    assertThat(FIRST.of(continuing(5L), 11, new Placed(10, 10))).isEqualTo(11);
  }

  @Test
  void shouldBeItsOwn_whenCrossedByAnUnregistration() {
    assertThat(FIRST.of(continuing(5L), 11, null)).isEqualTo(11);
  }

  @Test
  void shouldBeWhatTheSettledRecordSays_whateverElseIsStillInTheTopic() {
    // 10 replaced 5, 11 named 5, 12 settles it. A reader may see all, the last two, or the last
    // one.
    long crossed = FIRST.of(continuing(5L), 11, new Placed(10, 10));
    assertThat(FIRST.of(continuing(11L), 12, new Placed(11, crossed))).isEqualTo(11);
    long believed = FIRST.ofFirst(continuing(5L), 11);
    assertThat(FIRST.of(continuing(11L), 12, new Placed(11, believed))).isEqualTo(11);
    assertThat(FIRST.ofFirst(continuing(11L), 12)).isEqualTo(11);
  }

  @Test
  void shouldBelieveTheRecord_whenWhatItReplacedIsCompactedAwayAndProgressAgrees() {
    long found = FIRST.ofFirst(continuing(5L), 11);
    assertThat(found).isEqualTo(5);
    assertThat(FIRST.known(continuing(5L), 11, found, 5)).isEqualTo(5);
    assertThat(FIRST.known(continuing(5L), 11, found, 2)).isEqualTo(5);
  }

  @Test
  void shouldBelieveProgress_whenItNamesALaterGeneration() {
    assertThat(FIRST.known(continuing(5L), 11, 5, 10)).isEqualTo(11);
    assertThat(FIRST.known(continuing(5L), 11, 5, 11)).isEqualTo(11);
    assertThat(FIRST.known(continuing(null), 11, 11, 5)).isEqualTo(11);
  }

  @Test
  void shouldTellCrossedRecords() {
    assertThat(Generations.isCrossed(continuing(5L), 11)).isTrue();
    assertThat(Generations.isCrossed(continuing(5L), 5)).isFalse();
    assertThat(Generations.isCrossed(continuing(null), 5)).isFalse();
  }

  @Test
  void shouldLieAboveAllOfTheEpochBefore_whenTheSiteWasRepaired() {
    Generations next = new Generations(1);
    assertThat(next.at(0)).isGreaterThan(FIRST.at(1L << 43));
    assertThat(new Generations(511).at(1L << 43)).isLessThan(1L << 53);
    assertThat(next.ofFirst(continuing(5L), 8)).isEqualTo(next.at(8));
    assertThat(next.of(continuing(5L), 8, new Placed(5, next.at(5)))).isEqualTo(next.at(8));
    assertThat(next.of(continuing(next.at(8)), 9, new Placed(8, next.at(8)))).isEqualTo(next.at(8));
  }

  @Test
  void shouldBeRefused_whenTheEpochDoesNotFit() {
    assertThat(new Generations((1L << 19) - 1).at(0)).isPositive();
    assertThatThrownBy(() -> new Generations(1L << 19)).hasMessageContaining("epoch");
    assertThatThrownBy(() -> new Generations(-1)).hasMessageContaining("epoch");
  }
}
