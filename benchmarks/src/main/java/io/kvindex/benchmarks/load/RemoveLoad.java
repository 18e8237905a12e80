// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * How fast are blocks removed? Again and again fills the index beyond its size, then lets all
 * publishers do nothing but evict, one event a block as engines do, until the size is reached: ZMQ
 * to visible. Only the removals are timed.
 */
public final class RemoveLoad {
  private static final int KEPT_BATCHES = 10_000;
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final int REMOVED_A_BATCH = 32;

  private final String host;
  private final int port;
  private final int pid;
  private final int publishers;
  private final int resident;
  private final int removed;
  private final int warmUp;
  private final int rounds;
  private final int window;

  private RemoveLoad(LoadOptions options) {
    host = options.text("host", "127.0.0.1");
    port = options.number("port", 13333);
    pid = options.number("pid", 0);
    publishers = options.number("publishers", 64);
    resident = options.number("resident", 1_000_000);
    removed = options.number("removed", 500_000);
    warmUp = options.number("warm-up-rounds", 4);
    rounds = options.number("rounds", 8);
    window = options.number("window", 64);
    options.refuseUnknown();
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    new RemoveLoad(new LoadOptions(args)).run();
  }

  private void run() throws IOException {
    ServerProcess server = pid == 0 ? ServerProcess.listeningOn(port) : new ServerProcess(pid);
    try (VisibleSequences visible = new VisibleSequences(host, port, publishers, POLL_NS);
        Fleet fleet = new Fleet(publishers, KEPT_BATCHES, visible)) {
      fleet.join(host, port);
      List<Churn> churns = new ArrayList<>();
      for (int i = 0; i < publishers; i++) {
        churns.add(new Churn(i, (resident + removed) / publishers, null));
      }
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
      fleet.leave(host, port);
    }
  }

  private void fill(Fleet fleet, List<Churn> churns) {
    boolean more = true;
    while (more) {
      more = false;
      for (int i = 0; i < publishers; i++) {
        if (!churns.get(i).full()) {
          more = true;
          fleet.awaitWindow(i, window);
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
    while (residentBlocks(churns) > resident) {
      for (int i = 0; i < publishers; i++) {
        fleet.awaitWindow(i, window);
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

  private static void say(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
