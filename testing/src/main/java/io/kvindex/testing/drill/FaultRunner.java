// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Lets a fault happen and waits until all is well again. For one thread. */
final class FaultRunner {

  /** Longest wait for answers to be fresh again. */
  static final long CALM_WITHIN_MS = 90_000;

  private static final long READY_WITHIN_MS = 120_000;

  /** Answers have to be fresh for so long. */
  private static final long CALM_NS = TimeUnit.SECONDS.toNanos(2);

  /** Nobody waits any longer for an answer to what was asked before. */
  private static final long GIVEN_UP_MS = 1_000;

  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final LocalSite site;
  private final DrillLoad load;

  FaultRunner(LocalSite site, DrillLoad load) {
    this.site = site;
    this.load = load;
  }

  /** Does it and says what a router met meanwhile. */
  FaultResult run(int round, Fault planned) throws IOException, InterruptedException {
    Fault fault = planned.process().isEmpty() ? planned.of(indexer(round)) : planned;
    load.staleness().begin();
    Tally tally = load.tallies().begin("round " + round + ", " + fault);
    List<RouterReplica> hit =
        load.replicas().stream().filter(one -> one.name().equals(fault.process())).toList();
    hit.forEach(RouterReplica::disturb);
    long begunNs = System.nanoTime();
    boolean ready = fault.kind() == Fault.Kind.PAUSE ? pause(fault) : kill(fault);
    long readyMs = ready ? since(begunNs) : -1;
    if (fault.kind() == Fault.Kind.PAUSE) {
      // Whatever was asked of it meanwhile is there at once, and refused where it is too much.
      Patience.pause(load, GIVEN_UP_MS);
    }
    hit.forEach(RouterReplica::settle);
    long calmMs = awaitCalm(CALM_WITHIN_MS) ? since(begunNs) : -1;
    FaultResult result =
        new FaultResult(
            round,
            fault,
            begunNs,
            readyMs,
            calmMs,
            load.staleness().peakNs(),
            load.staleness().windows(),
            tally);
    load.tallies().begin("after round " + round + ", " + fault);
    return result;
  }

  private boolean kill(Fault fault) throws IOException, InterruptedException {
    site.kill(fault.process());
    Patience.pause(load, fault.forMs());
    site.start(List.of());
    return true;
  }

  private boolean pause(Fault fault) throws IOException, InterruptedException {
    site.pause(fault.process());
    Patience.pause(load, fault.forMs());
    site.resume(fault.process());
    SiteApi api = new SiteApi(site.uri(fault.process()), TIMEOUT);
    return Patience.await(load, READY_WITHIN_MS, api::isReady);
  }

  private static long since(long ns) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - ns);
  }

  /** Waits until no replica that answers was behind for a while; whether it came to that. */
  boolean awaitCalm(long withinMs) throws IOException, InterruptedException {
    List<String> names = load.replicas().stream().map(RouterReplica::name).toList();
    long begunNs = System.nanoTime();
    return Patience.await(
        load,
        withinMs,
        () -> {
          long now = System.nanoTime();
          return now - begunNs > CALM_NS && load.staleness().isCalm(names, now - CALM_NS);
        });
  }

  /** One after the other: each of them has everything. */
  private String indexer(int round) {
    List<String> names = site.names("index");
    return names.get(round % names.size());
  }
}
