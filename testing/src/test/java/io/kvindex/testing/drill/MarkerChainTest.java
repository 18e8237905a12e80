// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.testing.drill.MarkerChain.Missing;
import io.kvindex.testing.drill.Text.Kind;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MarkerChainTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Text TEXT = Drills.text(Kind.MARKER, 1);

  private final DrillEngine one = Drills.engine("one");
  private final DrillEngine two = Drills.engine("two");

  /** So few blocks that other prompts soon take their place. */
  private final DrillEngine small = Drills.engine("small", 64);

  private final MarkerChain chain = new MarkerChain(Drills.table(one, two), TEXT);

  @AfterEach
  void close() {
    one.close();
    two.close();
    small.close();
  }

  /** Lets an engine publish its next one; a moment just before and one just behind it. */
  private long[] mark(int engine) {
    long before = System.nanoTime();
    assertThat(chain.mark(engine)).isTrue();
    return new long[] {before, System.nanoTime()};
  }

  private static ObjectNode rows(int ofOne, int ofTwo) {
    ObjectNode rows = JSON.createObjectNode();
    rows.set("one", Drills.row(ofOne));
    rows.set("two", Drills.row(ofTwo));
    return rows;
  }

  private static void assertSince(Missing missing, long atNs, long[] marked, String engine) {
    assertThat(missing.ageNs()).isBetween(atNs - marked[1], atNs - marked[0]);
    assertThat(missing.engine()).isEqualTo(engine + " of drill-0");
  }

  @Test
  void shouldTellTheAgeOfTheOldestMarkerThatIsMissing() {
    long[][] marked = {mark(0), mark(0), mark(0)};
    long at = System.nanoTime() + Drills.ms(1_000);
    assertThat(chain.missing(rows(3, 0), at)).isEqualTo(Missing.NOTHING);
    assertSince(chain.missing(rows(2, 0), at), at, marked[2], "one");
    assertSince(chain.missing(rows(1, 0), at), at, marked[1], "one");
    assertSince(chain.missing(rows(0, 0), at), at, marked[0], "one");
  }

  /** What nobody has published yet would only be looked for in vain, ten times a second. */
  @Test
  void shouldAskForAsMuchAsAnEngineHasPublished() {
    assertThat(chain.question().blocks()).isEqualTo(1);
    mark(0);
    mark(1);
    mark(1);
    assertThat(chain.question().blocks()).isEqualTo(2);
  }

  @Test
  void shouldNameTheEngineWhoseMarkerIsOlder() {
    long[] ofTwo = mark(1);
    long[] ofOne = mark(0);
    long at = System.nanoTime() + Drills.ms(1_000);
    assertSince(chain.missing(rows(0, 0), at), at, ofTwo, "two");
    assertSince(chain.missing(rows(0, 1), at), at, ofOne, "one");
  }

  /** A row that is not there shows nothing: it is not an answer without a question. */
  @Test
  void shouldMissAll_whenTheRowIsNotThere() {
    long[] marked = mark(1);
    long at = System.nanoTime();
    assertSince(chain.missing(JSON.createObjectNode(), at), at, marked, "two");
  }

  @Test
  void shouldMissNothing_whenTheMarkerCameAfterTheQuestion() {
    long at = System.nanoTime();
    mark(0);
    assertThat(chain.missing(rows(0, 0), at)).isEqualTo(Missing.NOTHING);
  }

  @Test
  void shouldMissNothing_whenMoreIsShownThanIsKnownToBeSent() {
    mark(0);
    assertThat(chain.missing(rows(2, 0), System.nanoTime())).isEqualTo(Missing.NOTHING);
  }

  @Test
  void shouldMissNothing_whenTheEngineHasEvictedIt() {
    MarkerChain evicted = new MarkerChain(Drills.table(small), TEXT);
    assertThat(evicted.mark(0)).isTrue();
    ObjectNode nothing = JSON.createObjectNode();
    nothing.set("small", Drills.row(0));
    assertThat(evicted.missing(nothing, System.nanoTime()).ageNs()).isPositive();
    Random random = new Random(1);
    for (int i = 0; i < 20; i++) {
      small.step(random, 1);
    }
    assertThat(small.held(TEXT)).as("evicted and forgotten").isNull();
    assertThat(evicted.missing(nothing, System.nanoTime())).isEqualTo(Missing.NOTHING);
  }

  @Test
  void shouldEnd_whenAnEngineHasHadAll() {
    for (int i = 0; i < MarkerChain.LENGTH; i++) {
      assertThat(chain.mark(0)).isTrue();
    }
    assertThat(chain.mark(0)).isFalse();
    assertThat(chain.mark(1)).as("the other one goes on").isTrue();
    assertThat(chain.missing(rows(MarkerChain.LENGTH, 1), System.nanoTime()))
        .isEqualTo(Missing.NOTHING);
    assertThat(chain.question().blocks()).isEqualTo(MarkerChain.LENGTH);
  }
}
