// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static io.kvindex.testing.drill.Drills.ms;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.MissingNode;
import io.kvindex.testing.drill.HitRate.Count;
import io.kvindex.testing.drill.Text.Kind;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HitRateTest {

  private final HitRate hitRate = new HitRate();

  /** 20 blocks from 100.0 s on, 30 from 110.0 s on, none from 120.0 s on. */
  private static Held history() {
    Held held = new Held(Drills.text(Kind.CONVERSATION, 1));
    held.change(ms(100_000), ms(100_000), 20);
    held.change(ms(110_000), ms(110_000), 30);
    held.change(ms(120_000), ms(120_000), 0);
    return held;
  }

  private void answer(int blocks, long sentMs) {
    hitRate.add(history(), Drills.row(blocks), ms(sentMs), ms(sentMs + 20));
  }

  @Test
  void shouldTellTheShareOfTheBlocksThatWereHeld() {
    answer(20, 105_000);
    answer(15, 105_000);
    answer(0, 115_000);
    assertThat(hitRate.takeTold()).isEqualTo(new Count(70, 35));
    assertThat(new Count(70, 35).share()).isEqualTo(0.5);
  }

  @Test
  void shouldExpectOnlyWhatIsHeldForASecond() {
    answer(0, 100_990);
    assertThat(hitRate.takeTold()).as("20 for 990 ms").isEqualTo(new Count(0, 0));
    answer(20, 110_990);
    assertThat(hitRate.takeTold()).as("the other 10 for 990 ms").isEqualTo(new Count(20, 20));
    answer(20, 111_010);
    assertThat(hitRate.takeTold()).as("10 are missing").isEqualTo(new Count(30, 20));
    answer(0, 119_990);
    assertThat(hitRate.takeTold()).as("evicted meanwhile").isEqualTo(new Count(0, 0));
  }

  /** Else a ghost, or what is younger, would make up for a block that is missed. */
  @Test
  void shouldNotCountMoreThanWasHeld() {
    answer(40, 105_000);
    answer(10, 105_000);
    assertThat(hitRate.takeTold()).isEqualTo(new Count(40, 30));
  }

  @Test
  void shouldFindNothing_whenTheRowIsMissing() {
    hitRate.add(history(), MissingNode.getInstance(), ms(105_000), ms(105_020));
    assertThat(hitRate.takeTold()).isEqualTo(new Count(20, 0));
  }

  @Test
  void shouldExpectNothing_whenTheEngineNeverHadIt() {
    hitRate.add(null, Drills.row(0), ms(105_000), ms(105_020));
    assertThat(hitRate.takeTold()).isEqualTo(new Count(0, 0));
  }

  @Test
  void shouldBeginAnew_whenItWasTaken() {
    answer(10, 105_000);
    assertThat(hitRate.takeTold().share()).isEqualTo(0.5);
    answer(20, 105_000);
    assertThat(hitRate.takeTold().share()).isEqualTo(1);
    assertThat(hitRate.takeTold()).as("nothing since").isEqualTo(new Count(0, 0));
  }

  @Test
  void shouldFindNothingOfWhatAllEnginesHeld_whenAQueryFailed() {
    Text text = Drills.text(Kind.PINNED, 1);
    try (DrillEngine one = Drills.engine("one");
        DrillEngine two = Drills.engine("two");
        DrillEngine empty = Drills.engine("empty")) {
      one.pin(text);
      two.pin(text);
      Question question = Questions.of(Drills.table(one, two, empty), text);
      hitRate.failed(question, System.nanoTime() - ms(5_000));
      assertThat(hitRate.takeTold()).as("held since a moment ago").isEqualTo(new Count(0, 0));
      // As if they had it for two seconds.
      hitRate.failed(question, System.nanoTime() + ms(2_000));
      assertThat(hitRate.takeTold()).isEqualTo(new Count(2L * DrillEngine.PINNED, 0));
      assertThat(hitRate.takeHits())
          .as("a router would have gone to one of them")
          .isEqualTo(new Count(DrillEngine.PINNED, 0));
    }
  }

  /** The prompt is asked for at 105 s, when an engine holds 20 blocks. */
  private static void row(HitRate.Choice choice, @Nullable Held held, int said) {
    choice.add(held, Drills.row(said), ms(105_000), ms(105_020));
  }

  private static Held holding(int blocks) {
    Held held = new Held(Drills.text(Kind.CONVERSATION, 1));
    held.change(ms(100_000), ms(100_000), blocks);
    return held;
  }

  @Test
  void shouldFindAllOfIt_whereTheBestEngineIsNamedThoughNotAllItsBlocks() {
    HitRate.Choice choice = new HitRate.Choice();
    row(choice, holding(5), 5);
    row(choice, holding(20), 16);
    row(choice, null, 0);
    hitRate.add(choice);
    assertThat(hitRate.takeHits()).isEqualTo(new Count(20, 20));
    assertThat(hitRate.takeHits()).as("nothing since").isEqualTo(new Count(0, 0));
  }

  @Test
  void shouldFindWhatIsThere_whereAnotherEngineIsSaidToHaveMore() {
    HitRate.Choice choice = new HitRate.Choice();
    row(choice, holding(20), 4);
    row(choice, holding(8), 30);
    hitRate.add(choice);
    assertThat(hitRate.takeHits()).isEqualTo(new Count(20, 8));
  }

  @Test
  void shouldFindNothing_whereNobodyIsNamed() {
    HitRate.Choice choice = new HitRate.Choice();
    row(choice, holding(20), 0);
    hitRate.add(choice);
    assertThat(hitRate.takeHits()).isEqualTo(new Count(20, 0));
  }
}
