// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.e2e.StandInReplica;
import io.kvindex.launcher.e2e.StandInReplica.Reply;
import io.kvindex.testing.drill.Text.Kind;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of answers: two replicas say what a test lets them, about one engine. */
@Timeout(60)
class QueryLoadTest {

  private static final int QUERIES = 30;
  private static final TruthCheck OLD_ENOUGH = new TruthCheck(Drills.ms(60_000));
  private static final TruthCheck PRESENT_ONLY = new TruthCheck(0);

  private final DrillEngine engine = Drills.engine("one");
  private final Text pinned = Drills.text(Kind.PINNED, 1);
  private final Tallies tallies = new Tallies();
  private final Tally tally = tallies.current();
  private final HitRate hitRate = new HitRate();

  @BeforeEach
  void pin() {
    engine.pin(pinned);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** Asks, and lets a test wait for what comes of it before all is closed. */
  private void ask(
      TruthCheck truth, boolean degradedExcuses, IntFunction<Reply> replies, Runnable expected)
      throws IOException {
    askFor(truth, degradedExcuses, question -> replies.apply(held(question)), expected);
  }

  private void askFor(
      TruthCheck truth,
      boolean degradedExcuses,
      Function<JsonNode, Reply> replies,
      Runnable expected)
      throws IOException {
    try (StandInReplica one = new StandInReplica(replies);
        StandInReplica two = new StandInReplica(replies);
        Router router =
            new Router(
                List.of(
                    new RouterReplica("index-1", one.uri()),
                    new RouterReplica("index-2", two.uri())),
                tallies,
                Duration.ofSeconds(30))) {
      Questions questions =
          new Questions(List.of(Drills.table(engine)), List.of(List.of(pinned)), Drills.RUN);
      QueryLoad load =
          new QueryLoad(questions, router, truth, tallies, hitRate, degradedExcuses, 5);
      for (int i = 0; i < QUERIES; i++) {
        load.run();
      }
      await().atMost(Duration.ofSeconds(30)).untilAsserted(expected::run);
      assertThat(tally.queries).hasValue(QUERIES);
    }
  }

  /** Blocks the engine holds of what is asked. */
  private static int held(JsonNode question) {
    int kind = question.path("token_ids").get(0).asInt() >> 16;
    return kind == Kind.PINNED.ordinal() ? DrillEngine.PINNED : 0;
  }

  private static Reply rows(int blocks) {
    return Reply.ok("{\"default\":" + Drills.rows("one", blocks) + "}");
  }

  private static Reply rows(int blocks, String header, String value) {
    return new Reply(200, Map.of(header, value), rows(blocks).body());
  }

  @Test
  void shouldFindNothing_whenAllIsRight() throws IOException {
    ask(
        PRESENT_ONLY,
        false,
        QueryLoadTest::rows,
        () -> {
          assertThat(tally.rows).hasValue(QUERIES);
          assertThat(tally.latencies.count()).isEqualTo(QUERIES);
        });
    assertThat(tally.hits.get()).isBetween(1L, QUERIES - 1L);
    assertThat(FaultResult.areAnswersRight(tally)).isTrue();
    assertThat(tallies.findings()).isEmpty();
    assertThat(tally.saidStale).hasValue(0);
  }

  @Test
  void shouldCountAsWrong_whatWasNeverTrue() throws IOException {
    ask(
        OLD_ENOUGH,
        false,
        blocks -> rows(blocks + 1),
        () -> assertThat(tally.wrong).hasValue(QUERIES));
    assertThat(tally.late).hasValue(0);
    assertThat(tallies.findings().get(0)).contains("was wrong about one");
  }

  @Test
  void shouldCountAsLate_whatWasTrueLongerAgoThanAllowed() throws IOException {
    ask(
        PRESENT_ONLY,
        false,
        blocks -> rows(0),
        () -> {
          assertThat(tally.rows).hasValue(QUERIES);
          assertThat(tally.late).hasValue(tally.hits.get());
        });
    assertThat(tally.late.get()).isPositive();
    assertThat(tally.wrong).hasValue(0);
    assertThat(tallies.findings().get(0)).contains("was late about one");
  }

  @Test
  void shouldTakeIt_whenItWasTrueNotLongAgo() throws IOException {
    ask(OLD_ENOUGH, false, blocks -> rows(0), () -> assertThat(tally.rows).hasValue(QUERIES));
    assertThat(FaultResult.areAnswersRight(tally)).isTrue();
  }

  /** A replica that is behind answers of what the engine does not have for long any more. */
  @Test
  void shouldTakeWhatWasTrueNotLongAgo_whenItIsForgottenWhileTheAnswerIsOnItsWay()
      throws IOException {
    engine.step(new Random(1), 20);
    Map<Text, Integer> before =
        engine.all().stream().collect(Collectors.toMap(Held::text, Held::now));
    AtomicBoolean forgotten = new AtomicBoolean();
    Text asked = new Text(Kind.CONVERSATION, Drills.RUN, 0, 1);
    askFor(
        OLD_ENOUGH,
        false,
        question -> {
          synchronized (forgotten) {
            if (forgotten.compareAndSet(false, true)) {
              forgetOldOnes();
            }
          }
          return rows(before.getOrDefault(text(question), 0));
        },
        () -> assertThat(tally.rows).hasValue(QUERIES));
    assertThat(engine.held(asked)).as("forgotten").isNull();
    assertThat(before.get(asked)).isPositive();
    assertThat(tallies.findings()).isEmpty();
    assertThat(FaultResult.areAnswersRight(tally)).isTrue();
  }

  /** In small steps, so that what is pinned is used often enough to stay. */
  private void forgetOldOnes() {
    Random random = new Random(2);
    for (int i = 0; i < 300; i++) {
      engine.step(random, 20);
    }
  }

  private static Text text(JsonNode question) {
    int first = question.path("token_ids").get(0).asInt();
    int number = question.path("token_ids").get(1).asInt();
    return new Text(Kind.values()[first >> 16], Drills.RUN, first & 0xffff, number);
  }

  @Test
  void shouldCountAsFailed_whatTwoReplicasRefuse() throws IOException {
    await().until(() -> Objects.requireNonNull(engine.held(pinned)).least(ago(1_100), ago(0)) > 0);
    ask(
        OLD_ENOUGH,
        false,
        blocks -> Reply.refusal("not ready"),
        () -> {
          assertThat(tally.failed).hasValue(QUERIES);
          assertThat(tallies.count()).as("two refusals each, and that").isEqualTo(3 * QUERIES);
        });
    assertThat(tally.latencies.count()).as("none was answered").isZero();
    assertThat(tally.refused).hasValue(2 * QUERIES);
    for (HitRate.Count count : List.of(hitRate.takeTold(), hitRate.takeHits())) {
      assertThat(count.held()).isPositive();
      assertThat(count.share()).isZero();
    }
  }

  private static long ago(long ms) {
    return System.nanoTime() - Drills.ms(ms);
  }

  @Test
  void shouldCountAsWrong_whatIsNoAnswer() throws IOException {
    ask(
        OLD_ENOUGH,
        false,
        blocks -> Reply.ok("<html>"),
        () -> assertThat(tally.wrong).hasValue(QUERIES));
  }

  @Test
  void shouldCountAsWrong_aRowThatIsMissing() throws IOException {
    ask(
        OLD_ENOUGH,
        false,
        blocks -> Reply.ok("{\"default\":{}}"),
        () -> assertThat(tally.wrong).hasValue(QUERIES));
  }

  @Test
  void shouldCountAsWrong_aRowOfAnotherModel() throws IOException {
    ask(
        OLD_ENOUGH,
        false,
        blocks ->
            Reply.ok(
                "{\"default\":{\"one\":" + Drills.row(blocks) + ",\"two\":" + Drills.row(0) + "}}"),
        () -> assertThat(tally.wrong).hasValue(QUERIES));
  }

  @Test
  void shouldCountWhatSaysThatItIsStale_andJudgeItAllTheSame() throws IOException {
    ask(
        OLD_ENOUGH,
        false,
        blocks -> rows(blocks + 1, "X-KvIndex-State", "stale"),
        () -> assertThat(tally.wrong).hasValue(QUERIES));
    assertThat(tally.saidStale).hasValue(QUERIES);
  }

  @Test
  void shouldExcuseAnEngineThatIsNamedAsDegraded_onlyWhereThatMayBe() throws IOException {
    IntFunction<Reply> wrong = blocks -> rows(blocks + 1, "X-KvIndex-Degraded", "two,one");
    ask(OLD_ENOUGH, true, wrong, () -> assertThat(tally.saidDegraded).hasValue(QUERIES));
    assertThat(tally.wrong).hasValue(0);
  }

  @Test
  void shouldExcuseNobody_whereNoneMayBeDegraded() throws IOException {
    IntFunction<Reply> wrong = blocks -> rows(blocks + 1, "X-KvIndex-Degraded", "two,one");
    ask(OLD_ENOUGH, false, wrong, () -> assertThat(tally.wrong).hasValue(QUERIES));
    assertThat(tally.saidDegraded).hasValue(QUERIES);
  }

  @Test
  void shouldExcuseNobodyElse_thanWhoIsNamed() throws IOException {
    IntFunction<Reply> wrong = blocks -> rows(blocks + 1, "X-KvIndex-Degraded", "one-1,someone");
    ask(OLD_ENOUGH, true, wrong, () -> assertThat(tally.wrong).hasValue(QUERIES));
    assertThat(tally.saidDegraded).hasValue(0);
  }
}
