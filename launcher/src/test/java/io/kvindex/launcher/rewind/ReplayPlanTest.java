// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ReplayPlanTest {

  private static final Instant OLDEST = Instant.parse("2026-11-20T00:00:00Z");

  private static ReplayPlan plan(List<LogPart> parts, Map<Integer, Long> starts) {
    return new ReplayPlan(parts, new TreeMap<>(starts));
  }

  @Test
  void shouldMissNothing_whenTheLogIsReadFromItsFirstRecord() {
    ReplayPlan plan =
        plan(
            List.of(new LogPart(0, 0, 10, OLDEST), new LogPart(1, 0, 0, null)),
            Map.of(0, 0L, 1, 0L));
    assertThat(plan.isWhole()).isTrue();
    assertThat(plan.missing()).isEmpty();
    assertThat(plan.records()).isEqualTo(10);
  }

  @Test
  void shouldNameWhatIsGoneAndWhatIsLeftOut() {
    ReplayPlan plan =
        plan(
            List.of(new LogPart(0, 5, 10, OLDEST), new LogPart(1, 0, 9, OLDEST)),
            Map.of(0, 5L, 1, 4L));
    assertThat(plan.isWhole()).isFalse();
    assertThat(plan.records()).isEqualTo(10);
    assertThat(plan.missing())
        .hasSize(3)
        .contains(
            "partition 0: retention no longer holds records 0 to 4; the oldest left is of"
                + " 2026-11-20T00:00:00Z",
            "partition 1: records 0 to 3 are left out, as asked for");
  }

  @Test
  void shouldReadOffsetsAndTimes() {
    assertThat(ReplayFrom.parse("beginning").label()).isEqualTo("beginning");
    assertThat(ReplayFrom.parse("120").offset()).isEqualTo(120);
    assertThat(ReplayFrom.parse("120").label()).isEqualTo("offset-120");
    ReplayFrom time = ReplayFrom.parse("2026-11-21T12:15:30+02:00");
    assertThat(time.time()).isEqualTo(Instant.parse("2026-11-21T10:15:30Z"));
    assertThat(time.label()).isEqualTo("2026-11-21t10-15-30z");
    for (String text : List.of("beginning", "120", "2026-11-21T12:15:30.250+02:00")) {
      ReplayFrom from = ReplayFrom.parse(text);
      assertThat(ReplayFrom.parse(from.text())).isEqualTo(from);
    }
    assertThatThrownBy(() -> ReplayFrom.parse("yesterday"))
        .hasMessageContaining("--from")
        .hasMessageContaining("yesterday");
  }
}
