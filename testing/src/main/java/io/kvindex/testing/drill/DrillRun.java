// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/** One drill from the start of the cluster to the report. */
final class DrillRun {

  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** Caches are full by then, at the default load. */
  private static final long WARM_MS = 15_000;

  /** Routers have asked for a while when something happens: new is at most what they meet then. */
  private static final long ASKED_MS = 10_000;

  /** Eight processes that have just started compile what they run for minutes. */
  private static final long CALM_AT_FIRST_MS = 300_000;

  private final DrillOptions options;
  private final PrintWriter out;
  private final Tallies tallies = new Tallies();
  private final List<FaultResult> faults = new ArrayList<>();
  private final List<RoundCheck.Result> checks = new ArrayList<>();
  private final List<Tally> between = new ArrayList<>();

  /**
   * @param out the report goes there
   */
  DrillRun(DrillOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  /** Runs it; whether every promise was kept. */
  boolean run() throws IOException, InterruptedException {
    LocalSite site = new LocalSite(options.script(), options.directory());
    boolean ours = !site.runs();
    boolean isTuned = Tuned.isIn(site.remembered());
    if (options.tuned() ? !ours && !isTuned : isTuned) {
      throw new IllegalArgumentException(
          "the cluster of "
              + options.directory()
              + (isTuned
                  ? " has the tuned flags: give --tuned, or another --dir"
                  : " runs without the tuned flags: stop it first, or give another --dir"));
    }
    site.start(options.tuned() ? Tuned.options() : List.of());
    try {
      List<RouterReplica> replicas =
          site.names("index").stream()
              .map(name -> new RouterReplica(name, site.uri(name)))
              .toList();
      try (DrillLoad load = new DrillLoad(options, site.partitions(), replicas, tallies)) {
        SiteApi api = new SiteApi(replicas.get(0).uri(), TIMEOUT);
        load.register(api);
        boolean kept = run(site, load);
        load.unregister(api);
        return kept;
      }
    } finally {
      if (ours) {
        site.stop();
      }
    }
  }

  private boolean run(LocalSite site, DrillLoad load) throws IOException, InterruptedException {
    if (options.outageSeconds() > 0) {
      return outage(site, load);
    }
    return options.rolling() ? roll(site, load) : drill(site, load);
  }

  private void warm(DrillLoad load, FaultRunner runner, DrillJournal journal)
      throws IOException, InterruptedException {
    journal.say("filling caches");
    load.startEngines();
    Patience.pause(
        load,
        Math.min(
            WARM_MS,
            1_000L
                    * options.load().blocks()
                    * options.load().instances()
                    / Math.max(1, options.load().operations())
                + 1_000));
    if (!runner.awaitCalm(CALM_AT_FIRST_MS)) {
      throw new IOException(
          "the cluster does not keep up with the load before anything is done to it: "
              + load.staleness().windows());
    }
    journal.say("routers ask");
    load.startQueries();
    Patience.pause(load, ASKED_MS);
  }

  private boolean drill(LocalSite site, DrillLoad load) throws IOException, InterruptedException {
    Random random = new Random(options.seed());
    FaultRunner runner = new FaultRunner(site, load);
    RoundCheck check = new RoundCheck(load, Set.of());
    List<List<Fault>> plan =
        Stream.generate(() -> Fault.round(site, options.only(), options.maxDownSeconds(), random))
            .limit(options.rounds())
            .toList();
    int steps = plan.stream().mapToInt(some -> some.size() + 1).sum();
    long begunNs = System.nanoTime();
    long restedNs = 0;
    long operations;
    try (DrillJournal journal = new DrillJournal(out, steps, options.report(), options.verbose())) {
      warm(load, runner, journal);
      begunNs = System.nanoTime();
      operations = load.operations();
      between.add(tallies.current());
      for (int round = 1; round <= options.rounds(); round++) {
        for (Fault fault : plan.get(round - 1)) {
          journal.say("round " + round + ", " + fault);
          note(runner.run(round, fault), journal);
        }
        long heldNs = System.nanoTime();
        RoundCheck.Result atRest = check.run(round);
        restedNs += System.nanoTime() - heldNs;
        note(atRest, journal);
      }
      operations = load.operations() - operations;
    }
    return report(operations / Math.max(1e-3, (System.nanoTime() - begunNs - restedNs) / 1e9));
  }

  private void note(FaultResult result, DrillJournal journal) {
    between.add(tallies.current());
    faults.add(result);
    journal.write(DrillReport.json(result, result.isKept(options)));
    journal.step(
        String.format(
            Locale.ROOT,
            "%s: ready after %.1f s, stale %.1f s",
            result.fault(),
            result.readyMs() / 1e3,
            result.staleSeconds()));
  }

  private void note(RoundCheck.Result atRest, DrillJournal journal) {
    checks.add(atRest);
    journal.write(DrillReport.json(atRest));
    String found = atRest.problems().isEmpty() ? "equal" : atRest.problems().get(0);
    journal.step("round " + atRest.round() + " at rest: " + found);
  }

  /**
   * @param operationsPerSecond while engines sent: they are held while all is compared
   */
  private boolean report(double operationsPerSecond) {
    DrillReport report = new DrillReport(options, out);
    out.println();
    report.faults(faults);
    report.windows(faults);
    out.println();
    checks.forEach(report::check);
    out.printf(
        Locale.ROOT,
        "%d queries, %.0f block operations/s; promised: none failed, none wrong, p99 %d ms, of replicas to which nothing was done %d ms,%n"
            + "stale %d s, and none of the others while an indexer is lost%n",
        DrillReport.queries(faults, between),
        operationsPerSecond,
        options.allowedP99Ms(),
        options.allowedSurvivorP99Ms(),
        options.allowedStaleMs() / 1_000);
    findings();
    boolean kept = report.verdict(faults, between, checks);
    out.flush();
    return kept;
  }

  private void findings() {
    tallies.findings().forEach(one -> out.println("  " + one));
    int more = tallies.count() - tallies.findings().size();
    if (more > 0) {
      out.println("  and " + more + " more");
    }
  }

  private boolean roll(LocalSite site, DrillLoad load) throws IOException, InterruptedException {
    FaultRunner runner = new FaultRunner(site, load);
    int steps =
        site.names("index").size() + site.names("bridge").size() + site.names("broker").size();
    RollingRestart.Result result;
    try (DrillJournal journal = new DrillJournal(out, steps, options.report(), options.verbose())) {
      warm(load, runner, journal);
      result = new RollingRestart(site, load, runner).run(journal);
      RollingReport.write(result.samples(), journal);
    }
    RoundCheck.Result atRest = new RoundCheck(load, Set.of()).run(1);
    boolean neverDropped = RollingReport.print(result.samples(), out);
    RollingReport.windows(result, out);
    new DrillReport(options, out).check(atRest);
    boolean areAnswersRight = RollingReport.answers(result.tallies(), out);
    findings();
    boolean kept = neverDropped && areAnswersRight && atRest.problems().isEmpty();
    out.println(kept ? "every promise was kept" : "PROMISES WERE BROKEN");
    out.flush();
    return kept;
  }

  private boolean outage(LocalSite site, DrillLoad load) throws IOException, InterruptedException {
    Outage.Result result;
    try (DrillJournal journal =
        new DrillJournal(out, Outage.STEPS, options.report(), options.verbose())) {
      warm(load, new FaultRunner(site, load), journal);
      result = new Outage(site, load, options).run(journal);
      journal.write(OutageReport.json(result));
    }
    boolean kept = OutageReport.print(result, out);
    findings();
    out.flush();
    return kept;
  }
}
