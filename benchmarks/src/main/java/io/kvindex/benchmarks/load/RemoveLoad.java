// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * How fast are blocks removed? Fills the index beyond its size, then lets all publishers do nothing
 * but evict, one event a block as engines do, until the size is reached, ZMQ to visible.
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
  private final int window;

  private RemoveLoad(LoadOptions options) {
    host = options.text("host", "127.0.0.1");
    port = options.number("port", 13333);
    pid = options.number("pid", 0);
    publishers = options.number("publishers", 64);
    resident = options.number("resident", 1_000_000);
    removed = options.number("removed", 3_000_000);
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
      fill(fleet, churns);
      drain(server, fleet, churns);
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
    say("filled: %,d blocks, %d publishers", residentBlocks(churns), publishers);
  }

  private void drain(ServerProcess server, Fleet fleet, List<Churn> churns) throws IOException {
    CpuMeter cpu = new CpuMeter(server);
    long before = fleet.visibleOperations();
    cpu.start();
    while (residentBlocks(churns) > resident) {
      for (int i = 0; i < publishers; i++) {
        fleet.awaitWindow(i, window);
        churns.get(i).evictOnly(fleet.get(i), REMOVED_A_BATCH);
        fleet.get(i).serve();
      }
    }
    fleet.awaitAllVisible();
    cpu.stop();
    long operations = fleet.visibleOperations() - before;
    say(
        "removes/s               %,.0f over %.1f s, %,d blocks left",
        operations / cpu.wallSeconds(), cpu.wallSeconds(), residentBlocks(churns));
    say(
        "server CPU              %.2f cores, %.2f us a remove: %s",
        cpu.cores(), cpu.cpuSeconds() * 1e6 / operations, cpu.threads());
  }

  private static long residentBlocks(List<Churn> churns) {
    return churns.stream().mapToLong(Churn::residentBlocks).sum();
  }

  private static void say(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
