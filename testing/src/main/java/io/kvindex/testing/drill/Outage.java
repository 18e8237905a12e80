// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Takes all of Kafka away for a while. Engines and routers go on; what engines can send again has
 * to be in the tables soon after Kafka is back; who sent more is all there too, or named. For one
 * thread.
 */
final class Outage {

  static final int STEPS = 3;

  /**
   * All that was sent is in the tables within this time of Kafka's return, unless engines sent more
   * than they can send again.
   */
  static final long EQUAL_WITHIN_MS = 10_000;

  /** Longest wait for it, to say how long it took. */
  static final long WAIT_MS = 300_000;

  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final LocalSite site;
  private final DrillLoad load;
  private final DrillOptions options;

  /**
   * What came of it.
   *
   * @param seconds from the kill until all nodes were ready again
   * @param fastest batches a second of the engine that sent most
   * @param tooFast engines that sent more than they can send again, in order
   * @param degraded engines replicas name as degraded, in order
   * @param equalMs from Kafka's return until all that was sent was in the tables, -1 = never
   * @param tally what routers met from the kill until then
   * @param check all tables and answers at rest, those of degraded engines left out
   * @param problems what was not as promised besides, empty = nothing
   */
  record Result(
      double seconds,
      double fastest,
      List<String> tooFast,
      List<String> degraded,
      long equalMs,
      Tally tally,
      RoundCheck.Result check,
      List<String> problems) {

    boolean isKept() {
      return tally.queries.get() > 0
          && FaultResult.areAnswersRight(tally)
          && equalMs >= 0
          && (equalMs <= EQUAL_WITHIN_MS || !tooFast.isEmpty())
          && problems.isEmpty()
          && check.problems().isEmpty();
    }
  }

  Outage(LocalSite site, DrillLoad load, DrillOptions options) {
    this.site = site;
    this.load = load;
    this.options = options;
  }

  Result run(DrillJournal journal) throws IOException, InterruptedException {
    RoundCheck check = new RoundCheck(load, Set.of());
    Map<String, Long> before = newest();
    Tally tally = load.tallies().begin("without Kafka");
    long killedNs = System.nanoTime();
    for (String broker : site.names("broker")) {
      site.kill(broker);
    }
    journal.step("all Kafka nodes are dead for " + options.outageSeconds() + " s");
    Patience.pause(load, TimeUnit.SECONDS.toMillis(options.outageSeconds()));
    site.start(List.of());
    Map<String, Long> sent = newest();
    sent.replaceAll((name, batch) -> batch - before.getOrDefault(name, 0L));
    long backNs = System.nanoTime();
    double seconds = (backNs - killedNs) / 1e9;
    journal.step("Kafka is back, engines go on");
    List<String> tooFast = tooFast(sent);
    List<String> problems = new ArrayList<>();
    Set<String> degraded = Set.of();
    // Only what is at rest can be equal. What was sent until a moment ago has to be there.
    load.hold();
    long equalMs = -1;
    try {
      if (Patience.await(load, WAIT_MS, () -> check.missing() == null)) {
        equalMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - backNs);
        degraded = degraded(tooFast, problems);
      }
    } finally {
      load.release();
    }
    load.tallies().begin("after the outage");
    journal.step("what was sent is in the tables");
    return new Result(
        seconds,
        Collections.max(sent.values()) / seconds,
        tooFast,
        List.copyOf(degraded),
        equalMs,
        tally,
        new RoundCheck(load, degraded).run(1),
        problems);
  }

  private List<String> tooFast(Map<String, Long> sent) {
    return sent.entrySet().stream()
        .filter(one -> one.getValue() > options.load().replayBatches())
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  /** Who is named by all replicas alike, and that nobody is who lost nothing. */
  private Set<String> degraded(List<String> tooFast, List<String> problems)
      throws IOException, InterruptedException {
    List<Set<String>> byReplica = new ArrayList<>();
    if (!Patience.await(load, WAIT_MS, () -> areAlike(byReplica))) {
      problems.add("replicas do not name the same engines: " + byReplica);
    }
    Set<String> degraded = new TreeSet<>();
    byReplica.forEach(degraded::addAll);
    degraded.stream()
        .filter(name -> !tooFast.contains(name))
        .forEach(name -> problems.add(name + " is named as degraded and lost nothing"));
    return degraded;
  }

  /** Whether all replicas tell of it and name the same ones. */
  private boolean areAlike(List<Set<String>> byReplica) throws InterruptedException {
    byReplica.clear();
    try {
      for (RouterReplica replica : load.replicas()) {
        byReplica.add(new SiteApi(replica.uri(), TIMEOUT).degraded());
      }
    } catch (IOException e) {
      return false;
    }
    return Set.copyOf(byReplica).size() == 1;
  }

  /** Number of each engine's newest batch. */
  private Map<String, Long> newest() {
    Map<String, Long> newest = new HashMap<>();
    load.engines().forEach(engine -> newest.put(engine.name(), engine.lastSequence()));
    return newest;
  }
}
