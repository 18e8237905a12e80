// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.testing.drill.MarkerChain.Missing;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Asks one replica for all markers, five times a second, or as often as it is run, and notes how
 * old its answers are. While it does not answer nobody is misled by it, so nothing is noted.
 */
final class MarkerWatch implements Runnable {

  /** Between two looks; also how exactly staleness is known. */
  static final long EVERY_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private final RouterReplica replica;
  private final SiteApi api;
  private final Markers markers;
  private final Staleness staleness;
  private final Tallies tallies;

  /** Chains that have ended and were shown whole. */
  private final Set<MarkerChain> done = Collections.newSetFromMap(new WeakHashMap<>());

  MarkerWatch(
      RouterReplica replica,
      Markers markers,
      Staleness staleness,
      Tallies tallies,
      Duration timeout) {
    this.replica = replica;
    this.api = new SiteApi(replica.uri(), timeout);
    this.markers = markers;
    this.staleness = staleness;
    this.tallies = tallies;
  }

  @Override
  public void run() {
    List<MarkerChain> asked = new ArrayList<>();
    List<MarkerChain> ended = new ArrayList<>();
    for (List<MarkerChain> some : markers.chains()) {
      for (MarkerChain chain : some) {
        if (!done.contains(chain)) {
          asked.add(chain);
        }
      }
      ended.addAll(some.subList(0, some.size() - 1));
    }
    long sentNs = System.nanoTime();
    try {
      look(asked, ended, sentNs);
    } catch (IOException e) {
      if (replica.hasSurvived(sentNs)) {
        tallies.current().refused.incrementAndGet();
        tallies.found(
            replica.name() + ", to which nothing was done, did not tell of markers: " + e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the drill ends
    }
  }

  private void look(List<MarkerChain> asked, List<MarkerChain> ended, long sentNs)
      throws IOException, InterruptedException {
    List<JsonNode> answers = api.queries(asked.stream().map(MarkerChain::question).toList());
    Missing oldest = Missing.NOTHING;
    boolean any = false;
    for (int i = 0; i < asked.size(); i++) {
      JsonNode answer = answers.get(i);
      if (answer.path("status").asInt() != SiteApi.OK) {
        refused(answer, sentNs);
        continue;
      }
      any = true;
      MarkerChain chain = asked.get(i);
      Missing missing = chain.missing(answer.path("body").path(Table.TENANT), sentNs);
      if (missing.ageNs() > oldest.ageNs()) {
        oldest = missing;
      }
      if (missing.ageNs() == 0 && ended.contains(chain)) {
        done.add(chain);
      }
    }
    if (any) {
      staleness.observe(replica.name(), sentNs, oldest.ageNs(), oldest.engine());
    }
  }

  private void refused(JsonNode answer, long sentNs) {
    if (replica.hasSurvived(sentNs)) {
      tallies.current().refused.incrementAndGet();
      tallies.found(replica.name() + ", to which nothing was done, refused a question: " + answer);
    }
  }
}
