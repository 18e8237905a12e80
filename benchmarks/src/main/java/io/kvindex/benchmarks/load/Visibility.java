// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Time from publishing a batch until queries find it, beside a steady rate of operations. */
final class Visibility {
  private static final long PROBE_NS = 100_000;
  private static final long PAUSE_NS = 1_000_000;
  private static final long LOST_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int WARM_UP_SECONDS = 5;

  private final FleetSetup setup;
  private final Fleet fleet;
  private final List<Churn> churns;
  private final int besideOperations;
  private final long start = System.nanoTime();
  private long operations;
  private int turn;

  /**
   * @param besideOperations block operations a second that go on meanwhile, half of them stores
   */
  Visibility(FleetSetup setup, Fleet fleet, List<Churn> churns, int besideOperations) {
    this.setup = setup;
    this.fleet = fleet;
    this.churns = churns;
    this.besideOperations = besideOperations;
  }

  void measure(
      ServerProcess server, SiteMeter site, ControlClient control, int batchesASecond, int seconds)
      throws IOException {
    Histogram latencies = new Histogram();
    CpuMeter cpu = new CpuMeter(server);
    StageTimes before = StageTimes.of(control);
    int warmUp = batchesASecond * WARM_UP_SECONDS;
    int batches = warmUp + batchesASecond * seconds;
    for (int i = 0; i < batches; i++) {
      long due = start + (long) (i * 1e9 / batchesASecond);
      for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
        pace(Math.min(due - now, PAUSE_NS));
      }
      if (i == warmUp) {
        before = StageTimes.of(control);
        cpu.start();
        site.start();
      }
      // numbers of batches are names of blocks: no two measurements have the same
      long nanos = marker(i % setup.publishers(), besideOperations + i, control);
      if (i >= warmUp) {
        latencies.record(nanos);
      }
    }
    cpu.stop();
    site.stop();
    StageTimes after = StageTimes.of(control);
    say("");
    say(
        "beside                  %,.0f block operations/s",
        operations / ((System.nanoTime() - start) / 1e9));
    say(
        "batches                 %d/s of %d blocks, one /query every %d us until it hits",
        batchesASecond, Marker.BLOCKS, PROBE_NS / 1_000);
    say(
        "event to visible        p50 %.2f / p99 %.2f / max %.2f ms over %,d batches",
        latencies.quantile(0.5) / 1e6,
        latencies.quantile(0.99) / 1e6,
        latencies.max() / 1e6,
        latencies.total());
    after.saySince(before);
    say("server CPU              %.2f cores: %s", cpu.cores(), cpu.threads());
    site.say();
  }

  /** Publishes what is due, at most a batch for each publisher at once, and rests a moment. */
  private void pace(long nanos) {
    long due = (long) ((System.nanoTime() - start) / 1e9 * besideOperations);
    for (int i = 0; i < fleet.size() && operations < due; i++) {
      int publisher = turn++ % fleet.size();
      operations += churns.get(publisher).step(fleet.get(publisher));
    }
    fleet.serve();
    LockSupport.parkNanos(nanos);
  }

  /** Publishes a prompt of its own and asks for it until its publisher has all of it. */
  private long marker(int publisher, int batch, ControlClient control) throws IOException {
    Marker marker = new Marker(batch);
    long published = System.nanoTime();
    fleet.get(publisher).publish(marker.payload(), Marker.BLOCKS);
    while (true) {
      int held = marker.tokensHeld(control, publisher);
      long nanos = System.nanoTime() - published;
      if (held == Marker.TOKENS) {
        return nanos;
      }
      if (nanos > LOST_NS) {
        throw new IllegalStateException("batch " + batch + " not visible after 10 s: " + held);
      }
      pace(PROBE_NS);
    }
  }
}
