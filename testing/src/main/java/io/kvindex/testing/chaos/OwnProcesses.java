// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.e2e.ChildProcess;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Our own processes, each a JVM of its own. One thread kills and starts; {@link #indexEpoch},
 * {@link #bridges} and {@link #quietSinceNs} are for any.
 */
final class OwnProcesses implements AutoCloseable {

  private static final String PORT = "--http-port";
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final String DATA = "--data-dir";

  /** They live for seconds, so compiling for speed would cost more than it returns. */
  private static final List<String> JVM = List.of("-Xmx1g", "-XX:TieredStopAtLevel=1");

  /** One that stands still must not hide what the other one says. */
  private static final Duration BRIDGE_TIMEOUT = Duration.ofSeconds(1);

  private final Map<String, ChildProcess> children = new LinkedHashMap<>();
  private final Map<String, IndexApi> health = new LinkedHashMap<>();
  private final Map<String, IndexApi> bridges = new LinkedHashMap<>();
  private final Map<String, Long> startAtNs = new LinkedHashMap<>();
  private final List<String> frozen = new ArrayList<>();
  private final AtomicInteger indexEpoch = new AtomicInteger();
  private final String kafka;
  private final IndexApi api;
  private final @Nullable AllInOne inside;
  private final Map<String, Long> disturbedNs = new ConcurrentHashMap<>();
  private final long startedNs = System.nanoTime();
  private long lookedNs = startedNs;
  private int restarts;

  private OwnProcesses(String kafka, URI index, @Nullable AllInOne inside) {
    this.kafka = kafka;
    this.api = new IndexApi(index);
    this.inside = inside;
  }

  /** Broker, two bridges and an indexer. */
  static OwnProcesses separate(Path directory) {
    int kafkaPort = ChildProcess.freePort();
    int indexPort = ChildProcess.freePort();
    OwnProcesses own =
        new OwnProcesses(
            "127.0.0.1:" + kafkaPort, URI.create("http://127.0.0.1:" + indexPort), null);
    own.add(
        directory,
        "broker",
        "broker",
        "--port",
        Integer.toString(kafkaPort),
        DATA,
        directory.resolve("broker").toString());
    own.add(
        directory,
        "index",
        "index",
        "--kafka",
        own.kafka,
        PORT,
        Integer.toString(indexPort),
        DATA,
        directory.resolve("index").toString());
    own.health.put("index", own.api);
    for (String bridge : List.of("bridge-1", "bridge-2")) {
      int port = ChildProcess.freePort();
      own.add(directory, bridge, "bridge", "--kafka", own.kafka, PORT, Integer.toString(port));
      URI uri = URI.create("http://127.0.0.1:" + port);
      own.health.put(bridge, new IndexApi(uri));
      own.bridges.put(bridge, new IndexApi(uri, BRIDGE_TIMEOUT));
    }
    return own;
  }

  /** Everything in this very process, which nothing is done to. */
  static OwnProcesses inOne(Path directory) throws InterruptedException {
    AllInOne all = AllInOne.start(AllInOneOptions.in(directory.resolve("all")).withHttpPort(0));
    OwnProcesses own = new OwnProcesses(all.bootstrapServers(), all.uri(), all);
    own.health.put("all", own.api);
    own.bridges.put("all", own.api);
    return own;
  }

  private void add(Path directory, String name, String... arguments) {
    children.put(name, new ChildProcess(name, directory, JVM, List.of(arguments)));
  }

  IndexApi api() {
    return api;
  }

  /** Kills one; it is started again by {@link #turn} after some time. */
  void kill(String name, long downMs) throws InterruptedException {
    child(name).kill();
    if (name.equals("index")) {
      indexEpoch.incrementAndGet();
    }
    startAtNs.put(name, System.nanoTime() + downMs * 1_000_000);
    disturbed(name);
  }

  void freeze(String name) throws InterruptedException {
    child(name).freeze();
    frozen.add(name);
    disturbed(name);
  }

  void thaw(String name) throws InterruptedException {
    child(name).thaw();
    frozen.remove(name);
    disturbed(name);
  }

  private ChildProcess child(String name) {
    ChildProcess child = children.get(name);
    if (child == null) {
      throw new IllegalArgumentException("no process " + name);
    }
    return child;
  }

  /** Starts what has been down long enough; what ended by itself is a failure. */
  void turn() throws InterruptedException {
    long now = System.nanoTime();
    for (Map.Entry<String, ChildProcess> child : children.entrySet()) {
      Long at = startAtNs.get(child.getKey());
      if (at == null) {
        child.getValue().requireAlive();
      } else if (now - at >= 0) {
        child.getValue().restart();
        startAtNs.remove(child.getKey());
        restarts++;
        disturbed(child.getKey());
      }
    }
    frozen.forEach(this::disturbed);
    startAtNs.keySet().forEach(this::disturbed);
    if (now - lookedNs > LOOK_NS) {
      lookedNs = now;
      areHealthy();
    }
  }

  /** Whether those that are neither down nor frozen are ready; notes which are not. */
  private boolean areHealthy() throws InterruptedException {
    boolean all = true;
    for (Map.Entry<String, IndexApi> one : health.entrySet()) {
      String name = one.getKey();
      if (!startAtNs.containsKey(name) && !frozen.contains(name) && !one.getValue().isReady()) {
        disturbed(name);
        all = false;
      }
    }
    return all;
  }

  private void disturbed(String name) {
    disturbedNs.put(name, System.nanoTime());
  }

  /** Whether none is down or frozen, and the indexer answers. */
  boolean areRunning() throws InterruptedException {
    return startAtNs.isEmpty() && frozen.isEmpty() && api.isReady();
  }

  /** Whether all run and say that they are ready. */
  boolean areReady() throws InterruptedException {
    if (!startAtNs.isEmpty() || !frozen.isEmpty()) {
      return false;
    }
    return areHealthy();
  }

  /** The bridges' own HTTP API. */
  Map<String, IndexApi> bridges() {
    return bridges;
  }

  /**
   * Since when nothing was done to broker, indexer and a bridge, {@link System#nanoTime}.
   *
   * @param bridge null = any bridge
   */
  long quietSinceNs(@Nullable String bridge) {
    long since = startedNs;
    for (Map.Entry<String, Long> one : disturbedNs.entrySet()) {
      boolean isOtherBridge =
          bridge != null && bridges.containsKey(one.getKey()) && !one.getKey().equals(bridge);
      if (!isOtherBridge) {
        since = Math.max(since, one.getValue());
      }
    }
    return since;
  }

  /** Changes whenever the indexer is another process. */
  int indexEpoch() {
    return indexEpoch.get();
  }

  /** Processes started again so far. */
  int restarts() {
    return restarts;
  }

  /** Kafka's address. */
  String kafka() {
    return kafka;
  }

  @Override
  public void close() throws InterruptedException {
    for (String name : List.copyOf(frozen)) {
      thaw(name);
    }
    for (ChildProcess child : children.values()) {
      child.kill();
    }
    if (inside != null) {
      inside.close();
    }
  }
}
