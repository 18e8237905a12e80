// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.testing.chaos.IndexApi.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks all the time and judges each answer by what the engines held. Some questions are asked
 * between two looks at which batches are visible; whatever an answer promises must have been held
 * at some time between those batches, in a life that may still be visible. {@link LifeVisibility}
 * says which may not be any more.
 *
 * <p>Promised tokens beyond that are a ghost when the next look finds them again: what lasts less
 * can not be told from the time it takes to look. So is an engine marked degraded although its
 * replay has everything: it is wrong, not ghostly, when two looks in a row find it.
 */
final class Prober implements AutoCloseable {

  /** How long an engine may be marked because its cache is told once more. */
  private static final long LONG_RETELLING_NS = TimeUnit.MINUTES.toNanos(1);

  private static final String DEGRADED =
      " is marked degraded during the run though replay could reach everything: ";

  private static final int QUESTIONS = 8;

  /** Some thirty looks a second; more would take a core from those that are looked at. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private final OwnProcesses processes;
  private final List<ChaosEngine> engines;
  private final Set<ChaosEngine> whole;
  private final LifeVisibility visibility;
  private final Findings findings;
  private final Random random;
  private final Thread thread = new Thread(this::run, "chaos-prober");
  private List<Question> suspects = List.of();

  /** Since when engines are marked degraded, without a break. */
  private final Map<ChaosEngine, Long> degradedSinceNs = new HashMap<>();

  private volatile boolean running = true;
  private volatile long asked;
  private volatile long judged;
  private volatile long hits;
  private volatile long deadAsked;
  private volatile long rows;
  private volatile long strictRows;

  /** What to ask in which tenant. */
  private record Question(String tenant, Prompt prompt, List<String> accused) {}

  /** An answer and the oldest life of each engine that it may show. */
  private record Asked(Question question, Answer answer, int[] oldest) {}

  /** Busy engines can always replay all they sent, so they must not be marked degraded. */
  Prober(OwnProcesses processes, Paths paths, Fleet fleet, Findings findings, long seed) {
    this.processes = processes;
    this.engines = fleet.engines();
    this.whole = Set.copyOf(fleet.busy());
    this.visibility = new LifeVisibility(paths, engines);
    this.findings = findings;
    this.random = new Random(seed);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void run() {
    while (running) {
      try {
        look();
      } catch (IOException e) {
        suspects = List.of(); // the indexer is down: nobody is misled
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        findings.wrong("the prober failed: " + e);
        return;
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  private void look() throws IOException, InterruptedException {
    int epoch = processes.indexEpoch();
    List<Question> questions = new ArrayList<>(suspects);
    suspects = List.of();
    while (questions.size() < QUESTIONS) {
      questions.add(question());
    }
    Map<String, Long> before = processes.api().visible();
    List<Asked> answers = new ArrayList<>();
    for (Question question : questions) {
      int[] oldest = engines.stream().mapToInt(visibility::oldest).toArray();
      answers.add(
          new Asked(question, processes.api().query(question.tenant(), question.prompt()), oldest));
      asked++;
    }
    Map<String, Long> after = processes.api().visible();
    if (epoch == processes.indexEpoch()) {
      visibility.note(before);
      List<Question> again = new ArrayList<>();
      for (Asked one : answers) {
        if (!one.answer().stale()) {
          judge(one, before, after, again);
        }
      }
      suspects = again;
      noteDegraded(answers);
    }
  }

  private void noteDegraded(List<Asked> answers) throws IOException, InterruptedException {
    for (ChaosEngine engine : whole) {
      boolean is =
          answers.stream()
              .filter(one -> !one.answer().stale())
              .filter(one -> one.question().tenant().equals(engine.tenant()))
              .anyMatch(one -> one.answer().degraded().contains(engine.name()));
      Long since = is ? degradedSinceNs.putIfAbsent(engine, System.nanoTime()) : null;
      if (!is) {
        degradedSinceNs.remove(engine);
      } else if (since != null
          && (System.nanoTime() - since > LONG_RETELLING_NS
              || processes.api().isDegraded(engine))) {
        findings.wrong(engine.name() + DEGRADED + processes.api().lastError(engine));
      }
    }
  }

  /** Of dead lives, of the one that lives, or of everybody. */
  private Question question() {
    ChaosEngine engine = engines.get(random.nextInt(engines.size()));
    int lives = engine.lives().size();
    int kind = random.nextInt(3);
    EngineLife life = engine.life();
    if (kind == 0 && lives > 1) {
      life = engine.lives().get(lives - 2 - random.nextInt(Math.min(3, lives - 1)));
      deadAsked++;
    }
    List<Prompt> some = kind == 2 ? engine.sharedWatched() : life.watchedOwn();
    return new Question(engine.tenant(), some.get(random.nextInt(some.size())), List.of());
  }

  private void judge(
      Asked one, Map<String, Long> before, Map<String, Long> after, List<Question> again) {
    judged++;
    Question question = one.question();
    List<String> accused = new ArrayList<>();
    for (int i = 0; i < engines.size(); i++) {
      ChaosEngine engine = engines.get(i);
      if (engine.tenant().equals(question.tenant()) && engine.lives().size() > 1) {
        rows++;
        strictRows += one.oldest()[i] == engine.lives().size() - 1 ? 1 : 0;
      }
      JsonNode row = one.answer().rows().path(engine.name());
      int blocks = row.path("longest_matched").asInt() / Prompts.BLOCK;
      if (blocks == 0 || one.answer().degraded().contains(engine.name())) {
        continue;
      }
      hits++;
      engine.lastSequence(); // waits for a batch that is sent but not noted yet
      List<EngineLife> all = List.copyOf(engine.lives());
      List<EngineLife> lives = all.subList(one.oldest()[i], all.size());
      long held = held(lives, question.prompt(), visible(before, engine), visible(after, engine));
      if (blocks > Long.numberOfTrailingZeros(~held)) {
        accused.add(engine.name());
        if (question.accused().contains(engine.name())) {
          findings.ghost(describe(question, engine, blocks, held, lives));
        }
      } else {
        note(lives, question.prompt());
      }
    }
    if (!accused.isEmpty()) {
      again.add(new Question(question.tenant(), question.prompt(), accused));
    }
  }

  private static long visible(Map<String, Long> batches, ChaosEngine engine) {
    return batches.getOrDefault(engine.name(), -1L);
  }

  /** Where only one life may be visible its batches say when; else all of them count. */
  private static long held(List<EngineLife> lives, Prompt prompt, long before, long after) {
    if (lives.size() == 1) {
      return lives.get(0).held(prompt, Math.min(before, after) - 1, Math.max(before, after) + 1);
    }
    long held = 0;
    for (EngineLife life : lives) {
      held |= life.held(prompt, 0, Long.MAX_VALUE);
    }
    return held;
  }

  private static void note(List<EngineLife> lives, Prompt prompt) {
    for (EngineLife life : lives) {
      if (!life.isSeen() && life.own().contains(prompt)) {
        life.seen();
      }
    }
  }

  private static String describe(
      Question question, ChaosEngine engine, int blocks, long held, List<EngineLife> lives) {
    return engine.name()
        + " is said to hold "
        + blocks
        + " blocks of "
        + question.prompt().name()
        + ", but held "
        + Long.numberOfTrailingZeros(~held)
        + " (it lives its life "
        + (lives.get(0).number() + lives.size() - 1)
        + ", the oldest that may be visible is "
        + lives.get(0).number()
        + (lives.get(0).isSeen() ? ", which an answer has shown)" : ", heard of long before)");
  }

  /** Questions asked. */
  long asked() {
    return asked;
  }

  /** Answers judged: not those said to be stale, nor of an indexer that was killed meanwhile. */
  long judged() {
    return judged;
  }

  /** Rows with a hit among them. */
  long hits() {
    return hits;
  }

  /** Share of the rows of engines restarted before where only the newest life counted. */
  double strictShare() {
    return rows == 0 ? 0 : (double) strictRows / rows;
  }

  /** Questions about a dead life. */
  long deadAsked() {
    return deadAsked;
  }

  @Override
  public void close() throws InterruptedException {
    running = false;
    thread.join(TimeUnit.SECONDS.toMillis(30));
  }
}
