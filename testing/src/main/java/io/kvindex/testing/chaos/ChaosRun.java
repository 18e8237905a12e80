// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.e2e.LossyProxy;
import io.kvindex.testing.chaos.ChaosOptions.Oddities;
import io.kvindex.testing.chaos.ChaosOptions.Shape;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** One run of the chaos suite. */
public final class ChaosRun {

  private static final long QUIET_WITHIN_NS = TimeUnit.SECONDS.toNanos(90);
  private static final int COMPARISONS = 20;

  /** How often each fault has to have happened before a run may end. */
  private static final int FRAMES = 200;

  private static final int TRUNCATED = 50;
  private static final int ENGINE_RESTARTS = 10;
  private static final int OWN_RESTARTS = 5;

  /** A step in a plan takes some seconds; this many more minutes are enough for any machine. */
  private static final double EXTRA_SECONDS = 600;

  private static final int LONG_FROM_SECONDS = 60;

  private final ChaosOptions options;
  private final PrintWriter out;
  private final Findings findings = new Findings();

  /**
   * @param out the report goes there
   */
  public ChaosRun(ChaosOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  /** Runs it and prints the report. */
  public ChaosResult run() throws InterruptedException {
    boolean full = options.shape() == Shape.FULL;
    try (Journal journal = new Journal(options, out);
        Fleet fleet = new Fleet(options.seed(), full, full ? options.oddities() : Oddities.NONE);
        OwnProcesses processes =
            full
                ? OwnProcesses.separate(options.directory())
                : OwnProcesses.inOne(options.directory());
        Paths paths = new Paths(processes, fleet.engines());
        Prober prober = new Prober(processes, paths, fleet, findings, options.seed() + 2)) {
      Random random = new Random(options.seed() + 3);
      Waiter waiter = new Waiter(processes, findings);
      EarlyRecords early = new EarlyRecords(fleet.busy().get(0), processes, waiter, journal);
      Director director = new Director(fleet, processes, waiter, early, journal, random);
      LastActs last = new LastActs(fleet, processes, waiter, findings, journal, random);
      FinalCheck check = new FinalCheck(processes, fleet.engines(), findings, options.seed() + 4);
      start(fleet, waiter, journal);
      paths.start();
      prober.start();
      goWrong(fleet, processes, director, journal);
      if (!findings.any()) {
        waiter.awaitReady();
        end(fleet, last, early, check, journal);
      }
      prober.close();
      if (findings.any()) {
        journal.say("workers: " + workers(processes));
      }
      journal.close();
      new ChaosReport(out)
          .print(options, fleet, processes, early, prober, check, journal, findings);
      return result(fleet, processes, prober, check, journal);
    }
  }

  private ChaosResult result(
      Fleet fleet, OwnProcesses processes, Prober prober, FinalCheck check, Journal journal) {
    return new ChaosResult(
        options.seed(),
        journal.seconds(),
        fleet.sum(LossyProxy::passed),
        fleet.sum(LossyProxy::dropped)
            + fleet.sum(LossyProxy::duplicated)
            + fleet.sum(LossyProxy::delayed)
            + fleet.sum(LossyProxy::truncated),
        fleet.engineRestarts(),
        processes.restarts(),
        prober.judged(),
        check.compared(),
        findings.ghosts(),
        findings.count(),
        findings.first());
  }

  private static String workers(OwnProcesses processes) throws InterruptedException {
    try {
      return processes.api().workers().toString();
    } catch (IOException e) {
      return e.toString();
    }
  }

  private void start(Fleet fleet, Waiter waiter, Journal journal) throws InterruptedException {
    waiter.awaitReady();
    for (ChaosEngine engine : fleet.engines()) {
      waiter.register(engine);
    }
    journal.say("all is up; engines are registered");
    fleet.start();
  }

  private void goWrong(Fleet fleet, OwnProcesses processes, Director director, Journal journal)
      throws InterruptedException {
    Random plan = new Random(options.seed());
    double begun = journal.seconds();
    double planned = options.time().toMillis() / 1e3;
    boolean withLong = options.shape() == Shape.FULL && planned >= LONG_FROM_SECONDS;
    int rounds = 0;
    while (!findings.any()
        && (rounds == 0 || journal.seconds() - begun < planned || !isEnough(fleet, processes))) {
      rounds++;
      for (ChaosStep step : ChaosStep.round(options.shape(), withLong, fleet.busy().size(), plan)) {
        if (!findings.any()) {
          director.perform(step);
          journal.at(journal.seconds() - begun);
        }
      }
      if (journal.seconds() - begun > planned + EXTRA_SECONDS) {
        findings.wrong("not enough went wrong in the time given");
      }
    }
  }

  private boolean isEnough(Fleet fleet, OwnProcesses processes) {
    return options.shape() == Shape.REDUCED
        || fleet.sum(LossyProxy::dropped) >= FRAMES
            && fleet.sum(LossyProxy::duplicated) >= FRAMES
            && fleet.sum(LossyProxy::delayed) >= FRAMES
            && fleet.sum(LossyProxy::truncated) >= TRUNCATED
            && fleet.engineRestarts() >= ENGINE_RESTARTS
            && processes.restarts() >= OWN_RESTARTS;
  }

  private void end(
      Fleet fleet, LastActs last, EarlyRecords early, FinalCheck check, Journal journal)
      throws InterruptedException {
    boolean full = options.shape() == Shape.FULL;
    if (full) {
      last.outage(check);
      last.withoutReplay(fleet.named(Fleet.WITHOUT_REPLAY), check);
    }
    fleet.stopLoad();
    last.silence(fleet.named("silent"));
    if (!early.writeForSure()) {
      findings.wrong("no record could be written ahead of its turn");
    }
    fleet.stopFaults();
    journal.say("quiet from here on");
    for (int i = 0; i < COMPARISONS; i++) {
      if (!check.awaitQuiet(fleet.loud(), QUIET_WITHIN_NS)) {
        findings.wrong("not all that was sent is visible: " + check.missing());
        return;
      }
      if (check.compare(full ? Set.of("short-lost") : Set.of())) {
        return;
      }
    }
    findings.wrong("answers do not come to rest");
  }
}
