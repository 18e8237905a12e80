// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ingest of a running {@code kvindex all}, ZMQ to visible. First as fast as the system takes it
 * with a bounded backlog (half stores, half removals, a steady number of resident blocks), then the
 * time from publishing one batch until {@code /query} finds its last block, at light load and
 * beside a steady rate of operations.
 */
public final class IngestLoad {
  /** Of {@code --beside}: half of what was sustained. */
  private static final int HALF = -1;

  private static final long QUIET_POLL_NS = TimeUnit.SECONDS.toNanos(5);

  private final FleetSetup setup;
  private final int warmUpSeconds;
  private final int seconds;
  private final int lightRate;
  private final int lightSeconds;
  private final int besideOperations;
  private final SiteMeter site;

  private IngestLoad(LoadOptions options) {
    setup = FleetSetup.of(options, 8, 256);
    warmUpSeconds = options.number("warm-up", 45);
    seconds = options.number("seconds", 60);
    lightRate = options.number("light-rate", 50);
    lightSeconds = options.number("light-seconds", 30);
    besideOperations = options.number("beside", 50_000);
    site = new SiteMeter(options.text("site", ""));
    options.refuseUnknown();
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    new IngestLoad(new LoadOptions(args)).run();
  }

  private void run() throws IOException {
    ServerProcess server = setup.server();
    try (VisibleSequences visible = setup.visible();
        Fleet fleet = setup.fleet(visible)) {
      fleet.join(setup.host(), setup.port());
      List<Churn> churns = setup.churns(setup.resident());
      fill(fleet, churns);
      int sustained = sustain(server, fleet, churns);
      int beside = besideOperations == HALF ? sustained / 2 : besideOperations;
      try (ControlClient control = new ControlClient(setup.host(), setup.port())) {
        visible.every(QUIET_POLL_NS);
        new Visibility(setup, fleet, churns, 0)
            .measure(server, site, control, lightRate, lightSeconds);
        if (beside > 0) {
          new Visibility(setup, fleet, churns, beside)
              .measure(server, site, control, lightRate, lightSeconds);
        }
      }
      fleet.leave(setup.host(), setup.port());
    }
  }

  private void fill(Fleet fleet, List<Churn> churns) {
    long start = System.nanoTime();
    while (!churns.get(setup.publishers() - 1).full()) {
      round(fleet, churns);
    }
    fleet.awaitAllVisible();
    double took = (System.nanoTime() - start) / 1e9;
    say("filled: %,d blocks in %.1f s (%,.0f/s)", setup.resident(), took, setup.resident() / took);
  }

  private void round(Fleet fleet, List<Churn> churns) {
    for (int i = 0; i < setup.publishers(); i++) {
      fleet.awaitWindow(i, setup.window());
      churns.get(i).step(fleet.get(i));
      fleet.get(i).serve();
    }
  }

  /** Operations a second. */
  private int sustain(ServerProcess server, Fleet fleet, List<Churn> churns) throws IOException {
    runFor(warmUpSeconds, fleet, churns);
    StageTimes stages = stages();
    CpuMeter cpu = new CpuMeter(server);
    CpuMeter own = new CpuMeter(new ServerProcess(ProcessHandle.current().pid()));
    long before = fleet.visibleOperations();
    cpu.start();
    own.start();
    site.start();
    runFor(seconds, fleet, churns);
    cpu.stop();
    own.stop();
    site.stop();
    long operations = fleet.visibleOperations() - before;
    long backlog = 0;
    for (int i = 0; i < setup.publishers(); i++) {
      backlog += fleet.backlog(i);
    }
    fleet.awaitAllVisible();
    say(
        "block operations/s      %,.0f over %.1f s (half stores, half removals)",
        operations / cpu.wallSeconds(), cpu.wallSeconds());
    say(
        "batches under way       %,d at the end, at most %,d allowed",
        backlog, setup.publishers() * setup.window());
    say(
        "server CPU              %.2f cores, %.2f us an operation: %s",
        cpu.cores(), cpu.cpuSeconds() * 1e6 / operations, cpu.threads());
    say(
        "client CPU              %.2f cores; others on this machine %.2f",
        own.cores(), Math.max(0, cpu.machineCores() - cpu.cores() - own.cores()));
    site.say();
    stages().saySince(stages);
    return (int) (operations / cpu.wallSeconds());
  }

  /** By a connection of its own: the server closes those that are silent as long as a load. */
  private StageTimes stages() throws IOException {
    try (ControlClient control = new ControlClient(setup.host(), setup.port())) {
      return StageTimes.of(control);
    }
  }

  private void runFor(int duration, Fleet fleet, List<Churn> churns) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(duration);
    while (System.nanoTime() < end) {
      round(fleet, churns);
    }
  }
}
