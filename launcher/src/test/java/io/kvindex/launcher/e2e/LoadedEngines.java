// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A few engines that a thread keeps busy with prompts of a tree, so that they share prefixes and
 * evict.
 */
final class LoadedEngines implements AutoCloseable {

  private static final Duration STEP = Duration.ofMillis(5);
  private static final int BRANCH_TOKENS = 96;
  private static final int LEVELS = 8;
  private static final int FANOUT = 3;

  private final List<SimulatedEngine> engines = new ArrayList<>();
  private final AtomicBoolean running = new AtomicBoolean(true);
  private final Random random;
  private final long stepNs;
  private final Thread thread = new Thread(this::run, "engine-load");

  LoadedEngines(int count, long seed) {
    this(count, seed, STEP, options -> {});
  }

  /**
   * The same with other engines and another rate.
   *
   * @param step pause behind each batch
   */
  LoadedEngines(int count, long seed, Duration step, Consumer<EngineOptions> change) {
    this("engine", count, seed, step, change);
  }

  /**
   * The same beside others.
   *
   * @param name what their names begin with
   */
  LoadedEngines(String name, int count, long seed, Duration step, Consumer<EngineOptions> change) {
    random = new Random(seed);
    stepNs = step.toNanos();
    for (int i = 0; i < count; i++) {
      EngineOptions options =
          EngineOptions.vllm(name + "-" + i).gpuBlocks(400).hostBlocks(i % 2 == 0 ? 400 : 0);
      change.accept(options);
      engines.add(options.start());
    }
  }

  List<SimulatedEngine> engines() {
    return engines;
  }

  /** So many batches at once, in the caller's thread; not while the load runs. */
  void send(int batches) {
    for (int i = 0; i < batches; i++) {
      send();
    }
  }

  void start() {
    thread.start();
  }

  /** Stops the load; the engines stay up and quiet. */
  void pause() throws InterruptedException {
    running.set(false);
    thread.join();
  }

  /** Some prompt of the tree. */
  static int[] prompt(Random random) {
    int levels = 1 + random.nextInt(LEVELS);
    int[] tokens = new int[levels * BRANCH_TOKENS];
    int path = 0;
    for (int level = 0; level < levels; level++) {
      path = path * FANOUT + random.nextInt(FANOUT) + 1;
      for (int i = 0; i < BRANCH_TOKENS; i++) {
        tokens[level * BRANCH_TOKENS + i] = path * 1_000 + i;
      }
    }
    return tokens;
  }

  private void run() {
    while (running.get()) {
      send();
      LockSupport.parkNanos(stepNs);
    }
  }

  private void send() {
    SimulatedEngine engine = engines.get(random.nextInt(engines.size()));
    engine.prefill(prompt(random), null, null);
    engine.flush();
  }

  @Override
  public void close() throws InterruptedException {
    running.set(false);
    thread.join();
    engines.forEach(SimulatedEngine::close);
  }
}
