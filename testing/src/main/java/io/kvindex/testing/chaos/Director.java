// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.e2e.LossyProxy;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Lets things go wrong, step by step, on one thread. */
final class Director {

  /** Longer than the group waits for a member. */
  private static final long FROZEN_NS = TimeUnit.SECONDS.toNanos(14);

  /** At least; a bridge asks three times and waits 3 s for each answer before it gives up. */
  private static final long SILENT_NS = TimeUnit.MILLISECONDS.toNanos(3_200);

  private static final long OUTAGE_MS = 30_000;

  private static final int BURST = 150;

  private final Fleet fleet;
  private final OwnProcesses processes;
  private final Waiter waiter;
  private final EarlyRecords early;
  private final Journal journal;
  private final Random random;
  private int bridge;

  Director(
      Fleet fleet,
      OwnProcesses processes,
      Waiter waiter,
      EarlyRecords early,
      Journal journal,
      Random random) {
    this.fleet = fleet;
    this.processes = processes;
    this.waiter = waiter;
    this.early = early;
    this.journal = journal;
    this.random = random;
  }

  void perform(ChaosStep step) throws InterruptedException {
    ChaosEngine engine = fleet.busy().get(step.target());
    switch (step.kind()) {
      case RESTART_ENGINE -> restart(engine, step);
      case CLEAR -> engine.clear();
      case STALL -> {
        engine.proxy().withhold();
        waiter.pause(step.downMs() / 2);
        engine.proxy().release();
      }
      case BREAK -> breakConnections(engine);
      case REREGISTER -> {
        waiter.call(() -> processes.api().unregister(engine));
        waiter.pause(step.downMs());
        waiter.register(engine);
      }
      case REPLACE -> replace(engine);
      case SILENCE_REPLAY -> silenceReplay(engine, step);
      case EARLY -> early.write();
      case KILL_BRIDGE -> kill(step, nextBridge());
      case KILL_INDEX -> kill(step, "index");
      case KILL_BROKER -> kill(step, "broker");
      case LONG_OUTAGE -> {
        waiter.awaitReady();
        processes.kill("broker", OUTAGE_MS + step.downMs());
      }
      case KILL_BRIDGES -> killBridges(engine, step);
      case FREEZE_BRIDGE -> freeze();
    }
    journal.did(
        step.kind(), step.kind().name().toLowerCase(Locale.ROOT) + " " + about(step, engine));
    waiter.pause(step.pauseMs());
  }

  private static String about(ChaosStep step, ChaosEngine engine) {
    return switch (step.kind()) {
      case RESTART_ENGINE, CLEAR, STALL, BREAK, REREGISTER, REPLACE, SILENCE_REPLAY, KILL_BRIDGES ->
          engine.name();
      default -> "";
    };
  }

  /** Nothing, a little, or more than the one before had sent: all have to be told apart. */
  private void restart(ChaosEngine engine, ChaosStep step) throws InterruptedException {
    engine.pause(true);
    engine.restart();
    switch (step.variant()) {
      case 0 -> waiter.pause(step.downMs() / 4);
      case 1 -> breakConnections(engine);
      case 2 -> engine.steps(BURST, random);
      default -> engine.steps(1, random);
    }
    engine.pause(false);
  }

  private void breakConnections(ChaosEngine engine) throws InterruptedException {
    engine.proxy().breakConnections();
    engine.disturbed();
  }

  /** Ends by itself, so that other things go wrong meanwhile. */
  private void silenceReplay(ChaosEngine engine, ChaosStep step) {
    engine.silenceReplay(true);
    waiter.later(
        SILENT_NS + TimeUnit.MILLISECONDS.toNanos(step.downMs()),
        () -> engine.silenceReplay(false));
  }

  private void replace(ChaosEngine engine) throws InterruptedException {
    engine.newProxy();
    waiter.call(() -> processes.api().register(engine, true));
    List<LossyProxy> all = engine.proxies();
    all.get(all.size() - 2).close();
    engine.disturbed();
  }

  /** Takes turns, so that one bridge has to take over from the other. */
  private String nextBridge() {
    bridge = 3 - Math.max(1, bridge);
    return "bridge-" + bridge;
  }

  private void kill(ChaosStep step, String name) throws InterruptedException {
    waiter.awaitRunning();
    processes.kill(name, step.downMs());
  }

  private void killBridges(ChaosEngine engine, ChaosStep step) throws InterruptedException {
    waiter.awaitRunning();
    processes.kill("bridge-1", step.downMs());
    processes.kill("bridge-2", step.downMs());
    engine.restart();
  }

  private void freeze() throws InterruptedException {
    waiter.awaitReady();
    String name = nextBridge();
    processes.freeze(name);
    waiter.later(FROZEN_NS, () -> processes.thaw(name));
  }
}
