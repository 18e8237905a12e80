// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.testing.drill.Router.Answer;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Asks one question at a time, of all kinds in turn, and judges the answer. */
final class QueryLoad implements Runnable {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** More are not under way at a time; who has to wait for others is late, and measured so. */
  private static final int UNDER_WAY = 1_000;

  private final Questions questions;
  private final Router router;
  private final TruthCheck truth;
  private final Tallies tallies;
  private final HitRate hitRate;
  private final boolean degradedExcuses;
  private final Random random;
  private final Semaphore underWay = new Semaphore(UNDER_WAY);

  /**
   * @param degradedExcuses whether numbers of an instance may be wrong that the answer names as
   *     degraded
   */
  QueryLoad(
      Questions questions,
      Router router,
      TruthCheck truth,
      Tallies tallies,
      HitRate hitRate,
      boolean degradedExcuses,
      long seed) {
    this.questions = questions;
    this.router = router;
    this.truth = truth;
    this.tallies = tallies;
    this.hitRate = hitRate;
    this.degradedExcuses = degradedExcuses;
    this.random = new Random(seed);
  }

  @Override
  public void run() {
    Question question = questions.next(random);
    byte[] body = question.body();
    // What is evicted meanwhile may be forgotten before the answer is here.
    Map<DrillEngine, Held> known = known(question);
    Tally tally = tallies.current();
    underWay.acquireUninterruptibly();
    long beganNs = System.nanoTime();
    tally.queries.incrementAndGet();
    router
        .ask(body, tally)
        .whenComplete(
            (answer, problem) -> {
              underWay.release();
              try {
                answered(question, known, answer, problem, beganNs, tally);
              } catch (IOException | RuntimeException e) {
                tally.wrong.incrementAndGet();
                tallies.foundWrong("an answer could not be judged: " + e);
              }
            });
  }

  private static Map<DrillEngine, Held> known(Question question) {
    Map<DrillEngine, Held> known = new HashMap<>();
    for (DrillEngine engine : question.table().engines()) {
      Held held = engine.held(question.text());
      if (held != null) {
        known.put(engine, held);
      }
    }
    return known;
  }

  private void answered(
      Question question,
      Map<DrillEngine, Held> known,
      @Nullable Answer answer,
      @Nullable Throwable problem,
      long beganNs,
      Tally tally)
      throws IOException {
    if (answer == null) {
      tally.failed.incrementAndGet();
      hitRate.failed(question, beganNs);
      long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs);
      tallies.found("a query failed after " + ms + " ms, retry and all: " + problem);
      return;
    }
    tally.latencies.add(answer.receivedNs() - beganNs);
    if (header(answer, "X-KvIndex-State").equals("stale")) {
      tally.saidStale.incrementAndGet();
    }
    String degraded = "," + header(answer, "X-KvIndex-Degraded") + ",";
    JsonNode rows = JSON.readTree(answer.reply().body()).path(Table.TENANT);
    HitRate.Choice choice = new HitRate.Choice();
    for (DrillEngine engine : question.table().engines()) {
      Held held = known.getOrDefault(engine, engine.held(question.text()));
      JsonNode row = rows.path(engine.name());
      choice.add(held, row, answer.sentNs(), answer.receivedNs());
      if (degraded.contains("," + engine.name() + ",")) {
        tally.saidDegraded.incrementAndGet();
        if (degradedExcuses) {
          continue;
        }
      }
      row(question, held, answer, engine, row, tally);
    }
    hitRate.add(choice);
    if (rows.size() > question.table().engines().size()) {
      tally.wrong.incrementAndGet();
      tallies.foundWrong(answer.by().name() + " names engines of another model: " + rows);
    }
  }

  private void row(
      Question question,
      @Nullable Held held,
      Answer answer,
      DrillEngine engine,
      JsonNode row,
      Tally tally) {
    tally.rows.incrementAndGet();
    if (held != null && held.now() > 0) {
      tally.hits.incrementAndGet();
    }
    hitRate.add(held, row, answer.sentNs(), answer.receivedNs());
    TruthCheck.Verdict verdict = truth.judge(held, row, answer.sentNs(), answer.receivedNs());
    if (verdict != TruthCheck.Verdict.RIGHT) {
      boolean late = verdict == TruthCheck.Verdict.LATE;
      (late ? tally.late : tally.wrong).incrementAndGet();
      String finding =
          answer.by().name()
              + (late ? " was late" : " was wrong")
              + " about "
              + engine.name()
              + ", "
              + question.text()
              + ": answered "
              + row
              + " ("
              + header(answer, "X-KvIndex-State")
              + "), held now "
              + (held == null ? 0 : held.now())
              + " blocks";
      if (late) {
        tallies.found(finding);
      } else {
        tallies.foundWrong(finding);
      }
    }
  }

  private static String header(Answer answer, String name) {
    return answer.reply().header(name);
  }
}
