// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.chaos.IndexApi.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks all the time and judges each answer by what the engines held. Some questions are asked
 * between two looks at which batches are visible; whatever an answer promises must have been held
 * at some time between those batches, in a life that may still be visible. A life may not be once
 * an answer has shown a block of a later one, or once a batch is visible in its table that was sent
 * {@link #GRACE_NS} after the later one's first was passed on, if nothing was done to our own
 * processes for as long.
 *
 * <p>Promised tokens beyond that are a ghost when the next look finds them again: what lasts less
 * can not be told from the time it takes to look.
 */
final class Prober implements AutoCloseable {

  /** Takes a member of the bridges' group that was killed 6 s to be missed, and joining 10 s. */
  static final long GRACE_NS = TimeUnit.SECONDS.toNanos(20);

  private static final int QUESTIONS = 8;
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);

  private final OwnProcesses processes;
  private final List<ChaosEngine> engines;
  private final Findings findings;
  private final Random random;
  private final Thread thread = new Thread(this::run, "chaos-prober");
  private List<Question> suspects = List.of();

  /**
   * When the newest batch was sent that is visible for certain, by tenant: one table, one order.
   */
  private final Map<String, Long> fresh = new HashMap<>();

  private volatile boolean running = true;
  private volatile long asked;
  private volatile long judged;
  private volatile long hits;
  private volatile long deadAsked;

  /** What to ask in which tenant. */
  private record Question(String tenant, Prompt prompt, List<String> accused) {}

  /** An answer and the oldest life of each engine that it may show. */
  private record Asked(Question question, Answer answer, int[] oldest) {}

  Prober(OwnProcesses processes, List<ChaosEngine> engines, Findings findings, long seed) {
    this.processes = processes;
    this.engines = engines;
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
      int[] oldest = engines.stream().mapToInt(this::oldestVisible).toArray();
      answers.add(
          new Asked(question, processes.api().query(question.tenant(), question.prompt()), oldest));
      asked++;
    }
    Map<String, Long> after = processes.api().visible();
    if (epoch == processes.indexEpoch()) {
      noteFresh(before);
      List<Question> again = new ArrayList<>();
      for (Asked one : answers) {
        if (!one.answer().stale()) {
          judge(one, before, after, again);
        }
      }
      suspects = again;
    }
  }

  private void noteFresh(Map<String, Long> visible) {
    for (ChaosEngine engine : engines) {
      int now = engine.lives().size() - 1;
      if (oldestVisible(engine) == now) {
        long sent = engine.lives().get(now).sentNs(visible(visible, engine));
        if (sent != 0) {
          fresh.merge(engine.tenant(), sent, Math::max);
        }
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

  private int oldestVisible(ChaosEngine engine) {
    List<EngineLife> lives = engine.lives();
    long now = System.nanoTime();
    for (int i = lives.size() - 1; i > 0; i--) {
      EngineLife life = lives.get(i);
      long announced = life.announcedNs();
      if (life.isSeen()
          || announced != 0
              && fresh.getOrDefault(engine.tenant(), announced) - announced > GRACE_NS
              && now - processes.quietSinceNs() > GRACE_NS) {
        return i;
      }
    }
    return 0;
  }

  private void judge(
      Asked one, Map<String, Long> before, Map<String, Long> after, List<Question> again) {
    judged++;
    Question question = one.question();
    List<String> accused = new ArrayList<>();
    for (int i = 0; i < engines.size(); i++) {
      ChaosEngine engine = engines.get(i);
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
        + ")";
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
