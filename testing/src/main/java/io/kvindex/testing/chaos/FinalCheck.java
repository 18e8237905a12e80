// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.testing.chaos.IndexApi.Answer;
import io.kvindex.testing.chaos.Prompt.Context;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * When everything is quiet each number of each answer has to be what the engine's own cache says,
 * and those marked degraded have to be exactly those of which events are gone for good. Quiet means
 * that a prompt sent last is answered whole; nothing is slept for.
 */
final class FinalCheck {

  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MARK_AGAIN_NS = TimeUnit.SECONDS.toNanos(3);
  private static final int RANDOM_PROMPTS = 60;

  private final OwnProcesses processes;
  private final List<ChaosEngine> engines;
  private final Findings findings;
  private final Random random;
  private String missing = "";
  private RowCheck rows = new RowCheck();

  FinalCheck(OwnProcesses processes, List<ChaosEngine> engines, Findings findings, long seed) {
    this.processes = processes;
    this.engines = engines;
    this.findings = findings;
    this.random = new Random(seed);
  }

  /**
   * Waits until the newest batch of each engine is visible.
   *
   * @param some engines that may send a marker
   * @return whether it is, within the time
   */
  boolean awaitQuiet(List<ChaosEngine> some, long withinNs) throws InterruptedException {
    long deadline = System.nanoTime() + withinNs;
    while (System.nanoTime() - deadline < 0) {
      processes.turn();
      if (processes.areReady() && areMarked(some)) {
        return true;
      }
      LockSupport.parkNanos(POLL_NS);
    }
    return false;
  }

  /** Sends markers and waits a while for them; the tail of a stream is heard of with the next. */
  private boolean areMarked(List<ChaosEngine> some) throws InterruptedException {
    Map<ChaosEngine, Prompt> open = new HashMap<>();
    some.forEach(engine -> open.put(engine, engine.mark()));
    long until = System.nanoTime() + MARK_AGAIN_NS;
    while (!open.isEmpty() && System.nanoTime() - until < 0) {
      try {
        Map<String, Long> visible = processes.api().visible();
        Set<String> proven = processes.api().proven(); // others are named in answers
        for (Map.Entry<ChaosEngine, Prompt> one : Map.copyOf(open).entrySet()) {
          if (proven.contains(one.getKey().name())
              && isVisible(one.getKey(), one.getValue(), visible)) {
            open.remove(one.getKey());
          }
        }
      } catch (IOException e) {
        return false;
      }
      LockSupport.parkNanos(POLL_NS);
    }
    missing = "";
    for (Map.Entry<ChaosEngine, Prompt> one : open.entrySet()) {
      missing += describe(one.getKey(), one.getValue()) + "; ";
    }
    return open.isEmpty();
  }

  private String describe(ChaosEngine engine, Prompt marker) throws InterruptedException {
    try {
      return engine.name()
          + " has sent batch "
          + engine.lastSequence()
          + ", its proxy got "
          + engine.proxy().passed()
          + ", visible is "
          + processes.api().visible().get(engine.name())
          + ", marker answered "
          + processes.api().query(engine.tenant(), marker).rows().path(engine.name());
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** What was waited for last and did not come. */
  String missing() {
    return missing;
  }

  private boolean isVisible(ChaosEngine engine, Prompt marker, Map<String, Long> visible)
      throws IOException, InterruptedException {
    return visible.getOrDefault(engine.name(), -1L) == engine.lastSequence()
        && processes
                .api()
                .query(engine.tenant(), marker)
                .rows()
                .path(engine.name())
                .path("longest_matched")
                .asInt()
            == marker.tokens().length;
  }

  /**
   * Compares all answers.
   *
   * @param degraded instances of which events are gone for good; what they hold is not compared
   * @return false if something moved meanwhile, so that it has to be done again
   */
  boolean compare(Set<String> degraded) throws InterruptedException {
    rows = new RowCheck();
    Findings here = new Findings();
    try {
      Map<String, Long> before = processes.api().visible();
      Set<String> tenants = new TreeSet<>();
      engines.forEach(engine -> tenants.add(engine.tenant()));
      for (String tenant : tenants) {
        for (Prompt prompt : prompts(tenant)) {
          check(tenant, prompt, processes.api().query(tenant, prompt), degraded, here);
        }
      }
      if (!before.equals(processes.api().visible())) {
        return false;
      }
    } catch (IOException e) {
      return false;
    }
    findings.addAll(here);
    return true;
  }

  /** All prompts of the run in their own context and in another one, and random beginnings. */
  private Set<Prompt> prompts(String tenant) {
    Set<Prompt> all = new LinkedHashSet<>();
    Set<Context> contexts = new LinkedHashSet<>();
    for (ChaosEngine engine : engines) {
      if (engine.tenant().equals(tenant)) {
        all.addAll(engine.prompts());
        contexts.addAll(engine.contexts());
      }
    }
    List<Prompt> base = new ArrayList<>(all);
    List<Context> others = new ArrayList<>(contexts);
    for (Prompt prompt : base) {
      all.add(prompt.in(others.get(random.nextInt(others.size()))));
    }
    for (int i = 0; i < RANDOM_PROMPTS; i++) {
      Prompt whole = base.get(random.nextInt(base.size()));
      int[] some = Arrays.copyOf(whole.tokens(), 1 + random.nextInt(whole.tokens().length));
      all.add(new Prompt("a part of " + whole.name(), some, whole.lora(), whole.salt()));
    }
    return all;
  }

  private void check(
      String tenant, Prompt prompt, Answer answer, Set<String> degraded, Findings here) {
    if (answer.stale()) {
      here.wrong("an answer is marked stale though all is quiet");
    }
    for (ChaosEngine engine : engines) {
      String name = engine.name();
      boolean ofTenant = engine.tenant().equals(tenant);
      boolean doubtful = ofTenant && degraded.contains(name);
      if (answer.degraded().contains(name) != doubtful) {
        here.wrong(
            doubtful
                ? name + " is not marked degraded though events of it are gone for good"
                : name
                    + " is marked degraded though "
                    + (ofTenant
                        ? "replay could reach everything"
                        : "it is of another tenant than the one asked for"));
      }
      if (ofTenant && !doubtful) {
        rows.check(engine, prompt, answer.rows().path(name), here);
      }
    }
  }

  /** Rows compared. */
  int compared() {
    return rows.compared();
  }

  /** Rows among them that had to be a hit. */
  int nonZero() {
    return rows.nonZero();
  }
}
