// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.util.List;

/** Asks kvindex over HTTP and times the answer as a router sees it. */
final class KvindexPolicy implements RoutingPolicy {

  private final IndexClient index;
  private final List<SimulatedEngine> engines;
  private final Latencies queryTimes;

  KvindexPolicy(IndexClient index, List<SimulatedEngine> engines, Latencies queryTimes) {
    this.index = index;
    this.engines = engines;
    this.queryTimes = queryTimes;
  }

  @Override
  public long[] cachedTokens(int[] tokens) throws IOException, InterruptedException {
    long startedNs = System.nanoTime();
    JsonNode rows = index.query(tokens, engines.get(0).options().blockSize());
    queryTimes.add(System.nanoTime() - startedNs);
    long[] cached = new long[engines.size()];
    for (int i = 0; i < cached.length; i++) {
      cached[i] = rows.path(engines.get(i).options().name()).path("longest_matched").asLong();
    }
    return cached;
  }
}
