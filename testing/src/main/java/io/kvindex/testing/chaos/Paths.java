// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The way of each engine's events to the answers: which bridge follows it, as the bridges say, and
 * since when nothing was done to anything on that way. Thread-safe.
 */
final class Paths implements AutoCloseable {

  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final String NOBODY = "";

  private final OwnProcesses processes;
  private final List<ChaosEngine> engines;
  private final Thread thread = new Thread(this::run, "chaos-paths");
  private final Map<String, String> owners = new ConcurrentHashMap<>();
  private final Map<String, Long> unsettledNs = new ConcurrentHashMap<>();
  private volatile long lookedNs = System.nanoTime();
  private volatile boolean running = true;

  Paths(OwnProcesses processes, List<ChaosEngine> engines) {
    this.processes = processes;
    this.engines = engines;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void run() {
    try {
      while (running) {
        look();
        LockSupport.parkNanos(LOOK_NS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // from here on no path is known to be quiet
    }
  }

  private void look() throws InterruptedException {
    long begunNs = System.nanoTime();
    Map<String, String> found = new HashMap<>();
    for (Map.Entry<String, IndexApi> bridge : processes.bridges().entrySet()) {
      try {
        for (JsonNode follower : bridge.getValue().followers()) {
          follow(follower, bridge.getKey(), found);
        }
      } catch (IOException e) {
        continue; // whom it follows is not known, so its engines are not settled
      }
    }
    for (ChaosEngine engine : engines) {
      String now = found.getOrDefault(engine.name(), NOBODY);
      String before = owners.put(engine.name(), now);
      if (now.equals(NOBODY) || !now.equals(before)) {
        unsettledNs.put(engine.name(), System.nanoTime());
      }
    }
    lookedNs = begunNs;
  }

  /** Counts only a bridge that hears it where it publishes now, and not two of them. */
  private void follow(JsonNode follower, String bridge, Map<String, String> found) {
    String name = follower.path("instance_id").asText();
    for (ChaosEngine engine : engines) {
      if (engine.name().equals(name)
          && follower.path("connected").asBoolean(true)
          && follower.path("state").asText().equals("active")
          && follower.path("endpoint").asText().equals(engine.proxy().endpoint())) {
        found.merge(name, bridge, (one, other) -> NOBODY);
      }
    }
  }

  /** The bridge that follows it, null = unknown, none or two. */
  @Nullable String owner(ChaosEngine engine) {
    String owner = owners.getOrDefault(engine.name(), NOBODY);
    return owner.equals(NOBODY) ? null : owner;
  }

  /** When this was looked at last, {@link System#nanoTime}. */
  long lookedNs() {
    return lookedNs;
  }

  /** Since when the same bridge has followed it and nothing was done to anything on its way. */
  long settledSinceNs(ChaosEngine engine) {
    long settled = unsettledNs.getOrDefault(engine.name(), System.nanoTime());
    return Math.max(Math.max(settled, engine.disturbedNs()), quietSinceNs(engine));
  }

  /** Since when none of our processes on its way was down, frozen or not ready. */
  long quietSinceNs(ChaosEngine engine) {
    return processes.quietSinceNs(owner(engine));
  }

  @Override
  public void close() throws InterruptedException {
    running = false;
    thread.join(TimeUnit.SECONDS.toMillis(30));
  }
}
