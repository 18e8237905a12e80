// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.e2e.Faults;
import io.kvindex.launcher.e2e.LossyProxy;
import io.kvindex.sandbox.engine.EngineDialect;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.Holdings;
import io.kvindex.sandbox.engine.SimulatedEngine;
import io.kvindex.testing.chaos.Prompt.Context;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;

/** A simulated engine behind a lossy proxy, with a record of all its lives. Thread-safe. */
final class ChaosEngine implements AutoCloseable {

  /** What the network does to live events while nothing else is said. */
  static final Faults FAULTS = new Faults(0.06, 0.06, 0.06, 0.02);

  private static final byte FLOAT_64 = (byte) 0xcb;
  private static final int SHARED_EVERY = 4;
  private static final int WATCHED_SHARED = 4;

  private final int number;
  private final String tenant;
  private final List<Context> contexts;
  private final List<Prompt> shared;
  private final long seed;
  private final SimulatedEngine engine;
  private final SetClock clock;
  private final List<LossyProxy> proxies = new CopyOnWriteArrayList<>();
  private final List<EngineLife> lives = new CopyOnWriteArrayList<>();
  private int markers;
  private boolean paused;
  private volatile long disturbedNs = System.nanoTime();
  private volatile boolean replaySilent;

  /**
   * @param clock stamps the engine's batches
   */
  ChaosEngine(
      int number,
      EngineOptions options,
      SetClock clock,
      String tenant,
      List<Context> contexts,
      List<Prompt> shared,
      long seed) {
    this.number = number;
    this.clock = clock;
    this.tenant = tenant;
    this.contexts = contexts;
    this.shared = shared;
    this.seed = seed;
    engine = SimulatedEngine.start(options);
    begin();
    newProxy();
  }

  String name() {
    return engine.options().name();
  }

  String tenant() {
    return tenant;
  }

  List<Context> contexts() {
    return contexts;
  }

  boolean isVllm() {
    return engine.options().dialect() == EngineDialect.VLLM;
  }

  int replayBatches() {
    return engine.options().replayBatches();
  }

  /** Whether it announces blocks again, so that it may hold more than can be known. */
  boolean mayBeMissed() {
    return engine.options().fullReports() > 0;
  }

  /** Whether it keeps batches to replay, and is registered so. */
  boolean hasReplay() {
    return replayBatches() > 0;
  }

  SimulatedEngine engine() {
    return engine;
  }

  /** Where its events come from now. */
  LossyProxy proxy() {
    return proxies.get(proxies.size() - 1);
  }

  /** All it ever had. */
  List<LossyProxy> proxies() {
    return proxies;
  }

  /** From the first one on; grows. */
  List<EngineLife> lives() {
    return lives;
  }

  EngineLife life() {
    return lives.get(lives.size() - 1);
  }

  /** Prompts of everybody that are watched. */
  List<Prompt> sharedWatched() {
    return shared.subList(0, WATCHED_SHARED);
  }

  /** Puts a proxy at another address in front of it; the one before goes on until it is closed. */
  void newProxy() {
    proxies.add(
        new LossyProxy(
            engine.endpoint(), seed + proxies.size(), FAULTS, frames -> passedOn(frames)));
  }

  /** Batches begin with their time: an array's first member. */
  private void passedOn(List<byte[]> frames) {
    byte[] payload = frames.get(frames.size() - 1);
    if (payload.length > 9 && payload[1] == FLOAT_64) {
      Integer life = clock.lifeOf(ByteBuffer.wrap(payload, 2, Double.BYTES).getDouble());
      if (life != null && life == life().number()) {
        life().passedOn();
      }
    }
  }

  /** Something was done to its registration or to the connection to it, and is done with. */
  void disturbed() {
    disturbedNs = System.nanoTime();
  }

  /** When that was last, {@link System#nanoTime}; while it answers no replay it is now. */
  long disturbedNs() {
    return replaySilent ? System.nanoTime() : disturbedNs;
  }

  /** Whether its replay endpoint says nothing, though the engine goes on. */
  void silenceReplay(boolean is) {
    disturbed();
    replaySilent = is;
    engine.silenceReplay(is);
  }

  private void begin() {
    int next = lives.size();
    clock.begin(next);
    lives.add(new EngineLife(next, Prompts.own(number, next, contexts, seed), sharedWatched()));
  }

  /** Whether nobody but the director gives it work from now on. */
  synchronized void pause(boolean is) {
    paused = is;
  }

  /** Runs one request unless it is paused. */
  synchronized void work(Random random) {
    if (!paused) {
      step(random);
    }
  }

  /** Runs one request. */
  synchronized void step(Random random) {
    List<Prompt> some = random.nextInt(SHARED_EVERY) == 0 ? shared : life().own();
    run(some.get(random.nextInt(some.size())));
  }

  /** Runs so many requests, one by one, paused or not. */
  void steps(int count, Random random) {
    for (int i = 0; i < count; i++) {
      step(random);
    }
  }

  /** Runs a request that nobody has ever sent. */
  synchronized Prompt mark() {
    Prompt marker = Prompts.marker(number, life().number(), ++markers);
    run(marker);
    return marker;
  }

  private void run(Prompt prompt) {
    engine.prefill(prompt.tokens(), prompt.lora(), prompt.salt());
    flush();
  }

  private void flush() {
    if (engine.flush()) {
      life().record(engine);
    }
  }

  /** Empties the cache and says so. */
  synchronized void clear() {
    engine.clear();
    flush();
  }

  /** Kills it and starts another under its name and ports. */
  synchronized void restart() {
    engine.kill();
    begin();
    engine.restart();
  }

  synchronized long lastSequence() {
    return engine.lastSequence();
  }

  synchronized Holdings holdings(Prompt prompt) {
    return engine.holdings(prompt.tokens(), prompt.lora(), prompt.salt());
  }

  /** Every prompt any of its lives was given. */
  List<Prompt> prompts() {
    List<Prompt> all = new ArrayList<>(shared);
    lives.forEach(life -> all.addAll(life.own()));
    return all;
  }

  @Override
  public void close() throws InterruptedException {
    for (LossyProxy proxy : proxies) {
      proxy.close();
    }
    engine.kill();
  }
}
