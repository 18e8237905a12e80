// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.e2e.LossyProxy;
import io.kvindex.testing.chaos.ChaosStep.Kind;
import java.io.PrintWriter;
import java.util.Locale;

/** What a run did and what came of it, for people. */
final class ChaosReport {

  private final PrintWriter out;

  ChaosReport(PrintWriter out) {
    this.out = out;
  }

  void print(
      ChaosOptions options,
      Fleet fleet,
      OwnProcesses processes,
      EarlyRecords early,
      Prober prober,
      FinalCheck check,
      Journal journal,
      Findings findings) {
    out.printf(Locale.ROOT, "%nchaos, seed %d, %.0f s%n", options.seed(), journal.seconds());
    line(
        "messages",
        "%,d live: %,d dropped, %,d duplicated, %,d reordered, %,d truncated, %,d delayed",
        fleet.sum(LossyProxy::passed),
        fleet.sum(LossyProxy::dropped),
        fleet.sum(LossyProxy::duplicated),
        fleet.sum(LossyProxy::delayed),
        fleet.sum(LossyProxy::truncated),
        fleet.sum(LossyProxy::withheld));
    line(
        "replays",
        "%,d batches left out of answers, silent for seconds %d times, %d records ahead of their turn",
        fleet.engines().stream().mapToLong(one -> one.engine().replayBatchesLost()).sum(),
        journal.times(Kind.SILENCE_REPLAY),
        early.count());
    line(
        "engines",
        "%d restarts, %d clears, %d broken connections, %d registered anew, %d replaced",
        fleet.engineRestarts(),
        journal.times(Kind.CLEAR),
        journal.times(Kind.BREAK),
        journal.times(Kind.REREGISTER),
        journal.times(Kind.REPLACE));
    line(
        "own processes",
        "%d restarts after kill -9 (bridge %d times, both %d, indexer %d, broker %d), %d frozen",
        processes.restarts(),
        journal.times(Kind.KILL_BRIDGE),
        journal.times(Kind.KILL_BRIDGES),
        journal.times(Kind.KILL_INDEX),
        journal.times(Kind.KILL_BROKER),
        journal.times(Kind.FREEZE_BRIDGE));
    line(
        "asked meanwhile",
        "%,d times (%,d about dead lives, which were ruled out in %.1f %% of all rows), %,d answers judged, %,d rows with a hit",
        prober.asked(),
        prober.deadAsked(),
        100 * prober.strictShare(),
        prober.judged(),
        prober.hits());
    line(
        "compared at the end",
        "%,d rows, %,d of them with a hit",
        check.compared(),
        check.nonZero());
    line("ghosts", "%d", findings.ghosts());
    findings.first().forEach(what -> out.println("  " + what));
    if (findings.any()) {
      out.printf("data and logs: %s%n", options.directory());
    }
    out.printf("verdict: %s%n", findings.any() ? findings.count() + " FAILURES" : "right, always");
    out.flush();
  }

  private void line(String name, String format, Object... values) {
    out.printf(Locale.ROOT, "  %-20s %s%n", name, String.format(Locale.ROOT, format, values));
  }
}
