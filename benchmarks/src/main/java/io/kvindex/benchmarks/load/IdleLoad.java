// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * What does it cost that nothing happens? Registers publishers that are connected and say nothing,
 * waits until all is quiet, and tells how much processor time some processes take.
 */
public final class IdleLoad {

  private static final int KEPT_BATCHES = 10;
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final double POINTS = 100;

  private final String host;
  private final int port;
  private final int publishers;
  private final int settle;
  private final int seconds;
  private final List<String> names;
  private final List<ServerProcess> processes = new ArrayList<>();

  private IdleLoad(LoadOptions options) {
    host = options.text("host", "127.0.0.1");
    port = options.number("port", 13333);
    options.number("pid", 0);
    publishers = options.number("publishers", 64);
    settle = options.number("settle", 60);
    seconds = options.number("seconds", 60);
    names = List.of(options.text("names", "server").split(",", -1));
    Stream.of(options.text("pids", "0").split(",", -1))
        .forEach(id -> processes.add(new ServerProcess(Long.parseLong(id))));
    options.refuseUnknown();
    if (names.size() != processes.size()) {
      throw new IllegalArgumentException("--names and --pids have to be as many");
    }
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    new IdleLoad(new LoadOptions(args)).run();
  }

  private void run() throws IOException {
    // Whoever asks what is visible is no silence: only until all are connected.
    VisibleSequences visible = new VisibleSequences(host, port, publishers, POLL_NS);
    try (Fleet fleet = new Fleet(publishers, KEPT_BATCHES, visible)) {
      try (visible) {
        fleet.join(host, port);
      }
      Console.say("%d publishers are connected and silent", publishers);
      pause(settle);
      List<CpuMeter> meters = processes.stream().map(CpuMeter::new).toList();
      for (CpuMeter meter : meters) {
        meter.start();
      }
      pause(seconds);
      for (int i = 0; i < meters.size(); i++) {
        CpuMeter meter = meters.get(i);
        meter.stop();
        Console.say(
            "%-10s %5.2f points of a core over %d s  %s",
            names.get(i), POINTS * meter.cores(), seconds, meter.threads());
      }
    }
  }

  private static void pause(int seconds) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
