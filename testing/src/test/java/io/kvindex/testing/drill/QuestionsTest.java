// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.testing.drill.Text.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QuestionsTest {

  private static final int MANY = 4_000;

  private final DrillEngine one = engine("one", 1);
  private final DrillEngine two = engine("two", 2);
  private final List<Table> tables =
      List.of(new Table(0, "a", List.of(one)), new Table(1, "b", List.of(two)));
  private final Text everybodys = new Text(Kind.PINNED, Drills.RUN, 0, 1);
  private final Text others = new Text(Kind.PINNED, Drills.RUN, 1, 1);
  private final Questions questions =
      new Questions(tables, List.of(List.of(everybodys), List.of(others)), Drills.RUN);

  private static DrillEngine engine(String name, int number) {
    return new DrillEngine(name, number, Drills.RUN, 1_024, 10, 1);
  }

  @AfterEach
  void close() {
    one.close();
    two.close();
  }

  private List<Question> ask() {
    Random random = new Random(5);
    List<Question> asked = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      asked.add(questions.next(random));
    }
    return asked;
  }

  private static Map<Kind, Integer> kinds(List<Question> asked) {
    Map<Kind, Integer> kinds = new EnumMap<>(Kind.class);
    asked.forEach(question -> kinds.merge(question.text().kind(), 1, Integer::sum));
    return kinds;
  }

  /** A drill that asked for what nobody has would find every answer right. */
  @Test
  void shouldAskForAllKinds_mostlyForWhatIsOrWasHeld() {
    Random random = new Random(1);
    for (int i = 0; i < 100; i++) {
      one.step(random, 1);
      two.step(random, 1);
    }
    List<Question> asked = ask();
    Map<Kind, Integer> kinds = kinds(asked);
    assertThat(kinds).containsOnlyKeys(Kind.PINNED, Kind.CONVERSATION, Kind.UNKNOWN);
    assertThat(kinds.get(Kind.PINNED)).isBetween(MANY / 4, MANY * 2 / 5);
    assertThat(kinds.get(Kind.CONVERSATION)).isBetween(MANY / 2, MANY * 7 / 10);
    assertThat(kinds.get(Kind.UNKNOWN)).isBetween(MANY / 20, MANY / 5);
    assertThat(new HashSet<>(asked)).as("different ones").hasSizeGreaterThan(MANY / 20);
  }

  @Test
  void shouldAskATableForItsOwnTexts() {
    Random random = new Random(1);
    for (int i = 0; i < 20; i++) {
      one.step(random, 1);
      two.step(random, 1);
    }
    for (Question question : ask()) {
      Table table = question.table();
      Text text = question.text();
      DrillEngine engine = table.engines().get(0);
      if (text.kind() == Kind.PINNED) {
        assertThat(text).isEqualTo(table.number() == 0 ? everybodys : others);
      } else {
        assertThat(engine.held(text) == null).isEqualTo(text.kind() == Kind.UNKNOWN);
      }
    }
  }

  @Test
  void shouldAskForWhatNobodyHas_whenThereIsNoConversationYet() {
    assertThat(kinds(ask())).containsOnlyKeys(Kind.PINNED, Kind.UNKNOWN);
  }

  /** Else a ghost behind the end of the question would not be seen. */
  @Test
  void shouldAskForTheWholeText() {
    Table table = tables.get(0);
    assertThat(Questions.of(table, Drills.text(Kind.PINNED, 1)).blocks()).isEqualTo(24);
    assertThat(Questions.of(table, Drills.text(Kind.CONVERSATION, 1)).blocks()).isEqualTo(48);
    assertThat(Questions.of(table, Drills.text(Kind.UNKNOWN, 1)).blocks()).isEqualTo(48);
    assertThat(Questions.of(table, Drills.text(Kind.MARKER, 1)).blocks())
        .isEqualTo(MarkerChain.LENGTH);
  }

  @Test
  void shouldAskOnce_forATextThatSeveralEnginesHold() {
    Table table = Drills.table(one, two);
    one.pin(everybodys);
    two.pin(everybodys);
    two.mark(Drills.text(Kind.MARKER, 1));
    assertThat(Questions.all(table))
        .containsExactlyInAnyOrder(
            new Question(table, everybodys, 24),
            new Question(table, Drills.text(Kind.MARKER, 1), MarkerChain.LENGTH));
  }

  @Test
  void shouldSendTheTokensOfTheText() throws Exception {
    Text text = new Text(Kind.MARKER, -1, 3, 9);
    JsonNode body = new ObjectMapper().readTree(new Question(tables.get(1), text, 2).body());
    assertThat(body.path("model").asText()).isEqualTo("b");
    assertThat(body.path("block_size").asInt()).isEqualTo(16);
    JsonNode tokens = body.path("token_ids");
    assertThat(tokens).as("two blocks and a half").hasSize(40);
    assertThat(tokens.get(0).asInt()).isEqualTo(Kind.MARKER.ordinal() << 16 | 3);
    assertThat(tokens.get(1).asInt()).isEqualTo(9);
    assertThat(tokens.get(2).asLong()).as("unsigned").isEqualTo(0xffff_ffffL);
    assertThat(tokens.get(39).asInt()).isEqualTo(39);
  }

  /** Two texts that shared a block would be held where only one of them is. */
  @Test
  void shouldTellTextsApart_inTheirFirstBlock() {
    Set<List<Integer>> beginnings = new HashSet<>();
    int texts = 0;
    for (Kind kind : Kind.values()) {
      for (int owner = 0; owner < 3; owner++) {
        for (int number = 0; number < 3; number++) {
          for (int run = 0; run < 3; run++) {
            int[] tokens = new Text(kind, run, owner, number).tokens(1);
            beginnings.add(List.of(tokens[0], tokens[1], tokens[2]));
            texts++;
          }
        }
      }
    }
    assertThat(beginnings).hasSize(texts);
  }
}
