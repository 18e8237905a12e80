// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Restarts each process in order and looks at the hit rate every second. For one thread. */
final class RollingRestart {

  /** What a second is of in which no process is restarted. */
  static final String NOTHING = "nothing";

  private static final long QUIET_MS = 20_000;

  private final LocalSite site;
  private final DrillLoad load;
  private final FaultRunner runner;
  private final long quietMs;
  private final long beganNs = System.nanoTime();
  private final List<Sample> samples = new ArrayList<>();
  private final List<Tally> tallies = new ArrayList<>();
  private volatile String doing = NOTHING;

  /**
   * A second.
   *
   * @param second from the beginning
   * @param doing process that is being restarted, {@link #NOTHING} = none
   * @param hits see {@link HitRate#takeHits}
   * @param told see {@link HitRate#takeTold}
   * @param staleNs age of the oldest event any answer did not show in that second
   * @param failed queries since the beginning of that process's restart
   */
  record Sample(
      long second,
      String doing,
      HitRate.Count hits,
      HitRate.Count told,
      long staleNs,
      long failed) {}

  /**
   * What came of it.
   *
   * @param tallies what routers met before the first restart, and from each one to the next; the
   *     last one goes on counting
   * @param beganNs beginning of the first second
   * @param windows in which a replica was behind, by their beginning
   */
  record Result(
      List<Sample> samples, List<Tally> tallies, long beganNs, List<Staleness.Window> windows) {}

  RollingRestart(LocalSite site, DrillLoad load, FaultRunner runner) {
    this(site, load, runner, QUIET_MS);
  }

  /**
   * @param quietMs how long nothing is restarted, before and after
   */
  RollingRestart(LocalSite site, DrillLoad load, FaultRunner runner, long quietMs) {
    this.site = site;
    this.load = load;
    this.runner = runner;
    this.quietMs = quietMs;
  }

  /** Restarts all. */
  Result run(DrillJournal journal) throws IOException, InterruptedException {
    ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    load.hitRate().takeHits();
    load.hitRate().takeTold();
    load.staleness().begin();
    tallies.add(load.tallies().begin("rolling restart"));
    clock.scheduleAtFixedRate(this::sample, 1, 1, TimeUnit.SECONDS);
    try {
      Patience.pause(load, quietMs);
      for (String kind : List.of("index", "bridge", "broker")) {
        for (String name : site.names(kind)) {
          restart(name);
          journal.step("restarted " + name);
        }
      }
      doing = NOTHING;
      Patience.pause(load, quietMs);
    } finally {
      clock.shutdownNow();
      clock.awaitTermination(5, TimeUnit.SECONDS);
    }
    List<Staleness.Window> windows = load.staleness().windows();
    windows.sort(Comparator.comparingLong(one -> one.startNs() - beganNs));
    synchronized (samples) {
      return new Result(List.copyOf(samples), List.copyOf(tallies), beganNs, windows);
    }
  }

  private void restart(String name) throws IOException, InterruptedException {
    tallies.add(load.tallies().begin("restart of " + name));
    doing = name;
    List<RouterReplica> hit =
        load.replicas().stream().filter(one -> one.name().equals(name)).toList();
    hit.forEach(RouterReplica::disturb);
    site.restart(name);
    hit.forEach(RouterReplica::settle);
    runner.awaitCalm(FaultRunner.CALM_WITHIN_MS);
  }

  private void sample() {
    HitRate.Count hits = load.hitRate().takeHits();
    HitRate.Count told = load.hitRate().takeTold();
    long staleNs = load.staleness().takePeakNs();
    long second = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beganNs);
    synchronized (samples) {
      samples.add(
          new Sample(second, doing, hits, told, staleNs, load.tallies().current().failed.get()));
    }
  }
}
