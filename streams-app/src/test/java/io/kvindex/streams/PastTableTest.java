// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.ModelTable;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RandomLog;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.view.PartitionView;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PastTableTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);

  private static PartitionView view(PastTable table) {
    return Objects.requireNonNull(table.view(0));
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22})
  void shouldAnswerLikeTheModel_atAnyRecordOfALog(long seed) {
    RandomLog source = new RandomLog(new Random(seed));
    ModelTable model = new ModelTable();
    int held = 0;
    PastTable table = new PastTable(0, 1, 0);
    for (int i = 0; i < 600; i++) {
      EventRecord record = source.next();
      model.apply(record);
      table.take(record, i, 1_000 + i);
      if (i % 50 == 49) {
        for (String prompt : source.prompts()) {
          List<String> answer = new ArrayList<>();
          Answers.of(view(table), prompt).forEach(one -> answer.add(String.join(",", one)));
          assertThat(answer)
              .as("record %d, prompt %s", i, prompt)
              .isEqualTo(model.holders(null, prompt));
          held += answer.size();
        }
      }
    }
    assertThat(held).isGreaterThan(500);
  }

  @Test
  void shouldGoOnDegradedAtOnce_whenTheLogNoLongerHasWhatWasBefore() {
    Engine old = new Engine("old");
    old.batch(new Prompt("ab").stored(GPU));
    EventRecord goesOn = old.batch(new Prompt("xy").stored(GPU));
    Engine fresh = new Engine("new");
    PastTable cut = new PastTable(0, 1, 17);
    PastTable whole = new PastTable(0, 1, 0);
    cut.take(goesOn, 17, 1_000);
    cut.take(fresh.batch(new Prompt("ab").stored(GPU)), 18, 1_000);
    whole.take(goesOn, 17, 1_000);

    assertThat(Answers.text(view(cut), "xy")).isEqualTo("old/0/GPU | old/0/GPU");
    assertThat(Answers.text(view(cut), "ab")).isEqualTo("new/0/GPU | new/0/GPU");
    assertThat(view(cut).degradedPublishers()).containsExactly(old.stream().publisher());
    assertThat(view(cut).heldRecords()).isZero();
    assertThat(view(whole).heldRecords()).as("its predecessor may still come").isOne();
    assertThat(view(whole).degradedPublishers()).isEmpty();
  }

  /** As in the running table, which takes all of them. */
  @Test
  void shouldGoByTheTimeOfAllRecords_whenThoseOfOtherTablesAreLeftOut() {
    Engine engine = new Engine("e").traits(new SourceTraits(CopyPolicy.SET, Set.of(), 8, 1));
    Prompt ab = new Prompt("ab");
    PastTable table = new PastTable(0, 1, 0);
    table.take(engine.batch(ab.stored(GPU), ab.stored(new Place("cpu", 0, 0, null))), 0, 8_000);
    engine.batch(); // is lost
    table.take(engine.batch(ab.removed(GPU, 0, 2)), 2, 8_000);
    table.leaveOut(9_000);
    assertThat(Answers.text(view(table), "ab")).isEqualTo("e/0/GPU,e/0/cpu | e/0/GPU,e/0/cpu");
    assertThat(view(table).heldRecords()).isOne();
    table.leaveOut(16_000);
    assertThat(Answers.text(view(table), "ab")).isEqualTo("e/0/GPU | e/0/GPU");
    table.leaveOut(8_001 + Limits.DEFAULT.heldFor().toMillis());
    assertThat(Answers.text(view(table), "ab")).as("what waited is applied").isEmpty();
    assertThat(view(table).degradedPublishers()).containsExactly(engine.stream().publisher());
  }

  @Test
  void shouldForgetNothingAndBeFound_whenRowsAreMany() {
    Engine engine = new Engine("a");
    PastTable table = new PastTable(0, 1, 0);
    int offset = 0;
    for (int i = 0; i < 20_000; i++) {
      String path = "" + (char) ('!' + i % 1_000) + (char) ('!' + i / 1_000);
      table.take(engine.batch(new Prompt(path).stored(GPU)), offset++, 1_000);
    }
    for (int i = 0; i < 20_000; i += 97) {
      String path = "" + (char) ('!' + i % 1_000) + (char) ('!' + i / 1_000);
      assertThat(Answers.of(view(table), path)).as(path).hasSize(2);
      table.take(engine.batch(new Prompt(path).removed(GPU, 1, 2)), offset++, 1_000);
      assertThat(Answers.of(view(table), path)).as(path).hasSize(1);
    }
  }
}
