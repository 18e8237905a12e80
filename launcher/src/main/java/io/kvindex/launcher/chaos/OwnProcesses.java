// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.chaos;

import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Our own processes, each a JVM of its own. One thread kills and starts; {@link #indexEpoch} and
 * {@link #quietSinceNs} are for any.
 */
final class OwnProcesses implements AutoCloseable {

  private static final String PORT = "--http-port";
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final String DATA = "--data-dir";

  private final Map<String, ChildProcess> children = new LinkedHashMap<>();
  private final Map<String, IndexApi> health = new LinkedHashMap<>();
  private final Map<String, Long> startAtNs = new LinkedHashMap<>();
  private final List<String> frozen = new ArrayList<>();
  private final AtomicInteger indexEpoch = new AtomicInteger();
  private final String kafka;
  private final IndexApi api;
  private final @Nullable AllInOne inside;
  private volatile long disturbedNs = System.nanoTime();
  private long lookedNs = System.nanoTime();
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
      own.health.put(bridge, new IndexApi(URI.create("http://127.0.0.1:" + port)));
    }
    return own;
  }

  /** Everything in this very process, which nothing is done to. */
  static OwnProcesses inOne(Path directory) throws InterruptedException {
    AllInOne all = AllInOne.start(AllInOneOptions.in(directory.resolve("all")).withHttpPort(0));
    OwnProcesses own = new OwnProcesses(all.bootstrapServers(), all.uri(), all);
    own.health.put("all", own.api);
    return own;
  }

  private void add(Path directory, String name, String... arguments) {
    children.put(name, new ChildProcess(name, directory, List.of(arguments)));
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
    disturbedNs = System.nanoTime();
  }

  void freeze(String name) throws InterruptedException {
    child(name).freeze();
    frozen.add(name);
  }

  void thaw(String name) throws InterruptedException {
    child(name).thaw();
    frozen.remove(name);
    disturbedNs = System.nanoTime();
  }

  private ChildProcess child(String name) {
    ChildProcess child = children.get(name);
    if (child == null) {
      throw new IllegalArgumentException("no process " + name);
    }
    return child;
  }

  boolean isFrozen(String name) {
    return frozen.contains(name);
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
        disturbedNs = now;
      }
    }
    if (!frozen.isEmpty() || !startAtNs.isEmpty()) {
      disturbedNs = now;
    } else if (now - lookedNs > LOOK_NS) {
      lookedNs = now;
      areReady();
    }
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
    for (IndexApi one : health.values()) {
      if (!one.isReady()) {
        disturbedNs = System.nanoTime();
        return false;
      }
    }
    return true;
  }

  /** Since when nothing was done to any of them. */
  long quietSinceNs() {
    return disturbedNs;
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
