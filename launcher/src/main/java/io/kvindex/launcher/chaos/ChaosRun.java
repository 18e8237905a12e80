// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.chaos;

import io.kvindex.launcher.chaos.ChaosOptions.Shape;
import io.kvindex.sandbox.chaos.LossyProxy;
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

  private static final int FREEZE_FROM_SECONDS = 60;

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

  /** Runs it and prints the report; whether nothing was wrong. */
  public boolean run() throws InterruptedException {
    boolean full = options.shape() == Shape.FULL;
    try (Journal journal = new Journal(options, out);
        Fleet fleet = new Fleet(options.seed(), full);
        OwnProcesses processes =
            full
                ? OwnProcesses.separate(options.directory())
                : OwnProcesses.inOne(options.directory());
        Paths paths = new Paths(processes, fleet.engines());
        Prober prober = new Prober(processes, paths, fleet, findings, options.seed() + 2)) {
      Director director =
          new Director(fleet, processes, findings, journal, new Random(options.seed() + 3));
      FinalCheck check = new FinalCheck(processes, fleet.engines(), findings, options.seed() + 4);
      start(fleet, director, journal);
      paths.start();
      prober.start();
      goWrong(fleet, processes, director, journal);
      if (!findings.any()) {
        end(fleet, director, check, journal);
      }
      prober.close();
      if (findings.any()) {
        journal.say("workers: " + workers(processes));
      }
      journal.close();
      new ChaosReport(out)
          .print(options, fleet, processes, director, prober, check, journal, findings);
      return !findings.any();
    }
  }

  private static String workers(OwnProcesses processes) throws InterruptedException {
    try {
      return processes.api().workers().toString();
    } catch (IOException e) {
      return e.toString();
    }
  }

  private void start(Fleet fleet, Director director, Journal journal) throws InterruptedException {
    director.awaitReady();
    for (ChaosEngine engine : fleet.engines()) {
      director.register(engine);
    }
    journal.say("all is up; engines are registered");
    fleet.start();
  }

  private void goWrong(Fleet fleet, OwnProcesses processes, Director director, Journal journal)
      throws InterruptedException {
    Random plan = new Random(options.seed());
    double begun = journal.seconds();
    double planned = options.time().toMillis() / 1e3;
    boolean freeze = options.shape() == Shape.FULL && planned >= FREEZE_FROM_SECONDS;
    int rounds = 0;
    while (!findings.any()
        && (rounds == 0 || journal.seconds() - begun < planned || !isEnough(fleet, processes))) {
      rounds++;
      for (ChaosStep step : ChaosStep.round(options.shape(), freeze, fleet.busy().size(), plan)) {
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

  private void end(Fleet fleet, Director director, FinalCheck check, Journal journal)
      throws InterruptedException {
    director.awaitReady();
    boolean full = options.shape() == Shape.FULL;
    if (full) {
      director.outage(check);
    }
    fleet.stopLoad();
    director.silence(fleet.named("silent"));
    if (!director.earlyForSure()) {
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
