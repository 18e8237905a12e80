// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Ingest of a running {@code kvindex all}, ZMQ to visible. First as fast as the system takes it
 * with a bounded backlog (half stores, half removals, a steady number of resident blocks), then at
 * light load the time from publishing one batch until {@code /query} finds its last block.
 */
public final class IngestLoad {
  private static final long QUIET_POLL_NS = TimeUnit.SECONDS.toNanos(5);
  private static final long PROBE_NS = 100_000;
  private static final long LOST_NS = TimeUnit.SECONDS.toNanos(10);

  private final FleetSetup setup;
  private final int warmUpSeconds;
  private final int seconds;
  private final int lightRate;
  private final int lightSeconds;

  private IngestLoad(LoadOptions options) {
    setup = FleetSetup.of(options, 8, 256);
    warmUpSeconds = options.number("warm-up", 45);
    seconds = options.number("seconds", 60);
    lightRate = options.number("light-rate", 50);
    lightSeconds = options.number("light-seconds", 30);
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
      sustain(server, fleet, churns);
      visible.every(QUIET_POLL_NS);
      try (ControlClient control = new ControlClient(setup.host(), setup.port())) {
        light(server, fleet, control);
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

  private void sustain(ServerProcess server, Fleet fleet, List<Churn> churns) throws IOException {
    runFor(warmUpSeconds, fleet, churns);
    CpuMeter cpu = new CpuMeter(server);
    CpuMeter own = new CpuMeter(new ServerProcess(ProcessHandle.current().pid()));
    long before = fleet.visibleOperations();
    cpu.start();
    own.start();
    runFor(seconds, fleet, churns);
    cpu.stop();
    own.stop();
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
  }

  private void runFor(int duration, Fleet fleet, List<Churn> churns) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(duration);
    while (System.nanoTime() < end) {
      round(fleet, churns);
    }
  }

  private void light(ServerProcess server, Fleet fleet, ControlClient control) throws IOException {
    Histogram latencies = new Histogram();
    CpuMeter cpu = new CpuMeter(server);
    int warmUp = lightRate * 5;
    int batches = warmUp + lightRate * lightSeconds;
    long start = System.nanoTime();
    for (int i = 0; i < batches; i++) {
      long due = start + (long) (i * 1e9 / lightRate);
      for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
        fleet.serve();
        LockSupport.parkNanos(Math.min(due - now, 1_000_000));
      }
      if (i == warmUp) {
        cpu.start();
      }
      long nanos = marker(fleet.get(i % setup.publishers()), i % setup.publishers(), i, control);
      if (i >= warmUp) {
        latencies.record(nanos);
      }
    }
    cpu.stop();
    say(
        "light load              %d batches/s of %d blocks, one /query every %d us until it hits",
        lightRate, Marker.BLOCKS, PROBE_NS / 1_000);
    say(
        "event to visible        p50 %.2f / p99 %.2f / max %.2f ms over %,d batches",
        latencies.quantile(0.5) / 1e6,
        latencies.quantile(0.99) / 1e6,
        latencies.max() / 1e6,
        latencies.total());
    say("server CPU              %.2f cores: %s", cpu.cores(), cpu.threads());
  }

  /** Publishes a prompt of its own and asks for it until its publisher has all of it. */
  private long marker(LoadPublisher publisher, int number, int batch, ControlClient control)
      throws IOException {
    Marker marker = new Marker(batch);
    long start = System.nanoTime();
    publisher.publish(marker.payload(), Marker.BLOCKS);
    while (true) {
      int held = marker.tokensHeld(control, number);
      long nanos = System.nanoTime() - start;
      if (held == Marker.TOKENS) {
        return nanos;
      }
      if (nanos > LOST_NS) {
        throw new IllegalStateException("batch " + batch + " not visible after 10 s: " + held);
      }
      LockSupport.parkNanos(PROBE_NS);
    }
  }
}
