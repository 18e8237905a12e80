// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.testing.drill.HitRate.Count;
import io.kvindex.testing.drill.RollingRestart.Sample;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HitRateCurveTest {

  private final List<Sample> samples = new ArrayList<>();

  private HitRateCurve curve() {
    return new HitRateCurve(samples);
  }

  private void seconds(int count, String doing, long held, long found) {
    for (int i = 0; i < count; i++) {
      samples.add(
          new Sample(
              samples.size() + 1,
              doing,
              new Count(held, found),
              new Count(0, 0),
              0,
              /* failed= */ 0));
    }
  }

  @Test
  void shouldCountTenSecondsTogether() {
    seconds(20, RollingRestart.NOTHING, 100, 98);
    seconds(1, "index-1", 100, 89);
    seconds(9, "index-1", 100, 98);
    assertThat(curve().windows()).hasSize(21);
    assertThat(curve().lowest())
        .isEqualTo(new HitRateCurve.Window(12, RollingRestart.NOTHING, new Count(1_000, 971)));
    assertThat(curve().neverDropped()).as("0.9 of a percentage point").isTrue();
  }

  @Test
  void shouldDrop_whenTheyAreMoreThanAPercentagePointBelowTheQuietMean() {
    seconds(20, RollingRestart.NOTHING, 100, 98);
    seconds(9, "bridge-1", 100, 98);
    seconds(1, "bridge-1", 100, 87);
    assertThat(curve().neverDropped()).as("1.1 percentage points").isFalse();
    assertThat(curve().windows())
        .filteredOn(curve()::isDrop)
        .singleElement()
        .satisfies(one -> assertThat(one.first()).isEqualTo(21))
        .satisfies(one -> assertThat(one.doing()).isEqualTo("bridge-1"));
  }

  @Test
  void shouldNotMeasureRestartsByThemselves() {
    seconds(10, RollingRestart.NOTHING, 100, 99);
    seconds(100, "broker-1", 100, 97);
    assertThat(curve().quiet()).isEqualTo(new Count(1_000, 990));
    assertThat(curve().neverDropped()).isFalse();
  }

  @Test
  void shouldWeighASecondByWhatWasAskedInIt() {
    seconds(10, RollingRestart.NOTHING, 100, 98);
    seconds(9, "index-1", 100, 98);
    seconds(1, "index-1", 1, 0);
    assertThat(curve().neverDropped()).isTrue();
  }

  @Test
  void shouldKnowNothing_whereNothingWasCounted() {
    assertThat(curve().neverDropped()).as("no second").isFalse();
    assertThat(curve().lowest()).isNull();
    seconds(10, "index-1", 100, 98);
    assertThat(curve().neverDropped()).as("nothing to compare it with").isFalse();
    seconds(10, RollingRestart.NOTHING, 100, 98);
    assertThat(curve().neverDropped()).isTrue();
    seconds(9, "index-2", 0, 0);
    assertThat(curve().neverDropped()).as("a gap shorter than a window hides nothing").isTrue();
    seconds(1, "index-2", 0, 0);
    assertThat(curve().neverDropped()).as("nobody was asked").isFalse();
  }

  @Test
  void shouldTakeAllThereIs_whenThereAreFewer() {
    seconds(2, RollingRestart.NOTHING, 100, 98);
    seconds(1, "index-1", 100, 98);
    assertThat(curve().windows())
        .singleElement()
        .satisfies(one -> assertThat(one.hits().held()).isEqualTo(300));
  }
}
