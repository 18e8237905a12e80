// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import java.io.IOException;
import java.util.List;

/**
 * How fast are blocks removed? Again and again fills the index beyond its size, then lets all
 * publishers do nothing but evict, one event a block as engines do, until the size is reached: ZMQ
 * to visible. Only the removals are timed.
 */
public final class RemoveLoad {
  private static final int REMOVED_A_BATCH = 32;

  private final FleetSetup setup;
  private final int removed;
  private final int warmUp;
  private final int rounds;

  private RemoveLoad(LoadOptions options) {
    setup = FleetSetup.of(options, 64, 64);
    removed = options.number("removed", 500_000);
    warmUp = options.number("warm-up-rounds", 4);
    rounds = options.number("rounds", 8);
    options.refuseUnknown();
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    new RemoveLoad(new LoadOptions(args)).run();
  }

  private void run() throws IOException {
    ServerProcess server = setup.server();
    try (VisibleSequences visible = setup.visible();
        Fleet fleet = setup.fleet(visible)) {
      fleet.join(setup.host(), setup.port());
      List<Churn> churns = setup.churns(setup.resident() + removed);
      long operations = 0;
      double seconds = 0;
      for (int round = -warmUp; round < rounds; round++) {
        fill(fleet, churns);
        CpuMeter cpu = new CpuMeter(server);
        cpu.start();
        long drained = drain(fleet, churns);
        cpu.stop();
        report(round < 0 ? "warming up" : "round " + round, drained, cpu);
        operations += round < 0 ? 0 : drained;
        seconds += round < 0 ? 0 : cpu.wallSeconds();
      }
      say(
          "removes/s               %,.0f over %.1f s, down to %,d blocks each time",
          operations / seconds, seconds, residentBlocks(churns));
      fleet.leave(setup.host(), setup.port());
    }
  }

  private void fill(Fleet fleet, List<Churn> churns) {
    boolean more = true;
    while (more) {
      more = false;
      for (int i = 0; i < setup.publishers(); i++) {
        if (!churns.get(i).full()) {
          more = true;
          fleet.awaitWindow(i, setup.window());
          churns.get(i).step(fleet.get(i));
        }
        fleet.get(i).serve();
      }
    }
    fleet.awaitAllVisible();
  }

  /** Removes down to what is to stay; how many blocks went. */
  private long drain(Fleet fleet, List<Churn> churns) {
    long before = fleet.visibleOperations();
    while (residentBlocks(churns) > setup.resident()) {
      for (int i = 0; i < setup.publishers(); i++) {
        fleet.awaitWindow(i, setup.window());
        churns.get(i).evictOnly(fleet.get(i), REMOVED_A_BATCH);
        fleet.get(i).serve();
      }
    }
    fleet.awaitAllVisible();
    return fleet.visibleOperations() - before;
  }

  private static void report(String round, long operations, CpuMeter cpu) {
    say(
        "%-12s %,d removed, %,.0f/s, %.2f us of server CPU each, %.2f cores: %s",
        round,
        operations,
        operations / cpu.wallSeconds(),
        cpu.cpuSeconds() * 1e6 / operations,
        cpu.cores(),
        cpu.threads());
  }

  private static long residentBlocks(List<Churn> churns) {
    return churns.stream().mapToLong(Churn::residentBlocks).sum();
  }
}
