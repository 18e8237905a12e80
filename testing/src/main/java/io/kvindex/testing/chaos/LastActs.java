// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.e2e.Faults;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** What goes wrong last, each with an end that is known. For the director's thread. */
final class LastActs {

  /** Requests. */
  private static final int FEW = 20;

  private static final long HEARD_MS = 50;

  /** Batches; more than a bridge waits for before it believes that numbers have begun anew. */
  private static final int ROW = 80;

  private final Fleet fleet;
  private final OwnProcesses processes;
  private final Waiter waiter;
  private final Findings findings;
  private final Journal journal;
  private final Random random;

  LastActs(
      Fleet fleet,
      OwnProcesses processes,
      Waiter waiter,
      Findings findings,
      Journal journal,
      Random random) {
    this.fleet = fleet;
    this.processes = processes;
    this.waiter = waiter;
    this.findings = findings;
    this.journal = journal;
    this.random = random;
  }

  /**
   * An engine that has said nothing since it was restarted, and was registered anew: nothing but
   * the unregistration tells that what it held is gone.
   */
  void silence(ChaosEngine engine) throws InterruptedException {
    engine.pause(true);
    // What the network still holds of the dead one would say otherwise.
    engine.proxy().faults(Faults.NONE);
    waiter.call(() -> processes.api().unregister(engine));
    engine.restart();
    waiter.register(engine);
    journal.say("unregistered, restarted, registered and quiet: " + engine.name());
  }

  /**
   * No bridge runs while engines send more than they can replay, and one that can: those are
   * degraded and nobody else, until one of them begins a new life.
   */
  void outage(FinalCheck check) throws InterruptedException {
    List<ChaosEngine> few =
        List.of(
            fleet.named("short-lost"), fleet.named("short-reborn"), fleet.named("short-spared"));
    for (ChaosEngine engine : few) {
      engine.proxy().faults(Faults.NONE);
      engine.steps(10, random);
    }
    if (!check.awaitQuiet(few, Waiter.PATIENCE_NS)) {
      findings.wrong("engines with short replay buffers are not up to date before the outage");
      return;
    }
    processes.kill("bridge-1", 1_000);
    processes.kill("bridge-2", 1_000);
    few.get(0).steps(2 * Fleet.SHORT_REPLAY, random);
    few.get(1).steps(2 * Fleet.SHORT_REPLAY, random);
    few.get(2).steps(Fleet.SHORT_REPLAY / 3, random);
    journal.say("no bridge while two engines send more than they can replay");
    if (!waiter.await(
        () -> degraded().containsAll(List.of("short-lost", "short-reborn")), Waiter.PATIENCE_NS)) {
      findings.wrong("after the outage only " + degraded() + " are marked degraded");
    }
    few.get(1).restart();
    few.get(1).steps(FEW, random);
    journal.say("one of them is restarted: short-reborn");
  }

  /**
   * An engine that nobody can ask for what it sent. That it was restarted is told from its numbers
   * and times alone; what is lost makes it degraded, until it says that its cache is empty.
   */
  void withoutReplay(ChaosEngine engine, FinalCheck check) throws InterruptedException {
    engine.pause(true);
    restartUnheard(engine);
    if (isQuiet(engine, check)) {
      new EngineCheck(processes, findings).compareDead(engine);
    }
    engine.clear();
    engine.steps(FEW, random);
    if (isQuiet(engine, check)) {
      new EngineCheck(processes, findings).compare(engine);
    }
    long before = engine.proxy().dropped();
    engine.proxy().faults(new Faults(1, 0, 0, 0));
    engine.mark();
    waiter.await(() -> engine.proxy().dropped() > before, Waiter.PATIENCE_NS);
    engine.proxy().faults(Faults.NONE);
    engine.mark();
    if (!waiter.await(() -> degraded().contains(engine.name()), Waiter.PATIENCE_NS)) {
      findings.wrong(engine.name() + " has lost a batch for good and is not marked degraded");
    }
    engine.clear();
    engine.steps(FEW, random);
    journal.say("restarted, emptied, robbed of a batch, emptied: " + engine.name());
  }

  /** What it sends before its proxy is connected again nobody hears. */
  private void restartUnheard(ChaosEngine engine) throws InterruptedException {
    engine.proxy().faults(Faults.NONE);
    engine.restart();
    long before = engine.proxy().passed();
    boolean heard =
        waiter.await(
            () -> {
              engine.mark();
              waiter.pause(HEARD_MS);
              return engine.proxy().passed() > before;
            },
            Waiter.PATIENCE_NS);
    if (!heard) {
      findings.wrong("nothing is heard of " + engine.name() + " after its restart");
    }
    // Where its clock was set back, too, only such a row of numbers that come again tells.
    for (int i = 0; i < ROW; i++) {
      engine.mark();
    }
  }

  private boolean isQuiet(ChaosEngine engine, FinalCheck check) throws InterruptedException {
    boolean quiet = check.awaitQuiet(List.of(engine), Waiter.PATIENCE_NS);
    if (!quiet) {
      findings.wrong("not all is visible of an engine without replay: " + check.missing());
    }
    return quiet;
  }

  private Set<String> degraded() throws InterruptedException {
    try {
      Prompt any = fleet.engines().get(0).sharedWatched().get(0);
      return processes.api().query("default", any).degraded();
    } catch (IOException e) {
      return Set.of();
    }
  }
}
