// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.chaos;

import io.kvindex.sandbox.chaos.Faults;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** Lets things go wrong, step by step, on one thread. */
final class Director {

  private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);
  private static final long SHORT_NS = TimeUnit.SECONDS.toNanos(4);

  /** Longer than the group waits for a member. */
  private static final long FROZEN_NS = TimeUnit.SECONDS.toNanos(14);

  /** At least; a bridge asks three times and waits 3 s for each answer before it gives up. */
  private static final long SILENT_NS = TimeUnit.MILLISECONDS.toNanos(3_200);

  private static final int BURST = 150;
  private static final int TRIES = 10;

  private final Fleet fleet;
  private final OwnProcesses processes;
  private final Findings findings;
  private final Journal journal;
  private final Random random;
  private int bridge;
  private int earlyRecords;
  private long thawAtNs;
  private @Nullable ChaosEngine silent;
  private long speakAtNs;

  Director(Fleet fleet, OwnProcesses processes, Findings findings, Journal journal, Random random) {
    this.fleet = fleet;
    this.processes = processes;
    this.findings = findings;
    this.journal = journal;
    this.random = random;
  }

  /** Something that may fail because a process is down. */
  private interface Call {
    void run() throws IOException, InterruptedException;
  }

  /** Something that is waited for. */
  interface Condition {
    boolean holds() throws InterruptedException;
  }

  void perform(ChaosStep step) throws InterruptedException {
    ChaosEngine engine = fleet.busy().get(step.target());
    switch (step.kind()) {
      case RESTART_ENGINE -> restart(engine, step);
      case CLEAR -> engine.clear();
      case STALL -> {
        engine.proxy().withhold();
        pause(step.downMs() / 2);
        engine.proxy().release();
      }
      case BREAK -> breakConnections(engine);
      case REREGISTER -> {
        call(() -> processes.api().unregister(engine));
        pause(step.downMs());
        register(engine);
      }
      case REPLACE -> replace(engine);
      case SILENCE_REPLAY -> silenceReplay(engine, step);
      case EARLY -> early();
      case KILL_BRIDGE -> kill(step, nextBridge());
      case KILL_INDEX -> kill(step, "index");
      case KILL_BROKER -> kill(step, "broker");
      case KILL_BRIDGES -> killBridges(engine, step);
      case FREEZE_BRIDGE -> freeze();
    }
    journal.did(
        step.kind(),
        step.kind().name().toLowerCase(java.util.Locale.ROOT) + " " + about(step, engine));
    pause(step.pauseMs());
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
      case 0 -> pause(step.downMs() / 4);
      case 1 -> breakConnections(engine);
      case 2 -> work(engine, BURST);
      default -> work(engine, 1);
    }
    engine.pause(false);
  }

  private void breakConnections(ChaosEngine engine) throws InterruptedException {
    engine.proxy().breakConnections();
    engine.disturbed();
  }

  /** Ends by itself, so that other things go wrong meanwhile. */
  private void silenceReplay(ChaosEngine engine, ChaosStep step) throws InterruptedException {
    await(() -> silent == null, PATIENCE_NS);
    engine.silenceReplay(true);
    silent = engine;
    speakAtNs = System.nanoTime() + SILENT_NS + TimeUnit.MILLISECONDS.toNanos(step.downMs());
  }

  private void work(ChaosEngine engine, int steps) {
    for (int i = 0; i < steps; i++) {
      engine.step(random);
    }
  }

  private void replace(ChaosEngine engine) throws InterruptedException {
    engine.newProxy();
    call(() -> processes.api().register(engine, true));
    List<io.kvindex.sandbox.chaos.LossyProxy> all = engine.proxies();
    all.get(all.size() - 2).close();
    engine.disturbed();
  }

  /** Takes turns, so that one bridge has to take over from the other. */
  private String nextBridge() {
    bridge = 3 - Math.max(1, bridge);
    return "bridge-" + bridge;
  }

  private void kill(ChaosStep step, String name) throws InterruptedException {
    awaitRunning();
    processes.kill(name, step.downMs());
  }

  private void killBridges(ChaosEngine engine, ChaosStep step) throws InterruptedException {
    awaitRunning();
    processes.kill("bridge-1", step.downMs());
    processes.kill("bridge-2", step.downMs());
    engine.restart();
  }

  private void freeze() throws InterruptedException {
    awaitReady();
    processes.freeze(nextBridge());
    thawAtNs = System.nanoTime() + FROZEN_NS;
  }

  /** While an engine's live events are withheld a record of them is written ahead of its turn. */
  void early() throws InterruptedException {
    ChaosEngine engine = fleet.busy().get(0);
    engine.pause(true);
    engine.proxy().faults(Faults.NONE);
    try (EarlyRecord writer = new EarlyRecord(processes.kafka())) {
      engine.mark();
      if (await(() -> isVisible(engine), SHORT_NS)) {
        engine.proxy().withhold();
        long last = engine.lastSequence();
        engine.mark();
        engine.mark();
        await(() -> engine.proxy().waiting().size() >= 2, SHORT_NS);
        List<byte[]> second = engine.proxy().waiting().get(1);
        if (writer.write(engine, last, second.get(second.size() - 1))) {
          earlyRecords++;
        }
      }
    } catch (KafkaException | ExecutionException e) {
      journal.say("no early record: " + e);
    } finally {
      engine.proxy().release();
      engine.proxy().faults(ChaosEngine.FAULTS);
      engine.pause(false);
    }
  }

  /** The same until it succeeds, a few times; whether it did. */
  boolean earlyForSure() throws InterruptedException {
    int before = earlyRecords;
    for (int i = 0; i < TRIES && earlyRecords == before; i++) {
      early();
    }
    return earlyRecords > before;
  }

  /** Records that really came ahead of their turn. */
  int earlyRecords() {
    return earlyRecords;
  }

  private boolean isVisible(ChaosEngine engine) throws InterruptedException {
    try {
      return processes.api().visible().getOrDefault(engine.name(), -1L) == engine.lastSequence();
    } catch (IOException e) {
      return false;
    }
  }

  /** Registers; again until it is done. */
  void register(ChaosEngine engine) throws InterruptedException {
    call(() -> processes.api().register(engine, false));
    engine.disturbed();
  }

  /**
   * An engine that has said nothing since it was restarted, and was registered anew: nothing but
   * the unregistration tells that what it held is gone.
   */
  void silence(ChaosEngine engine) throws InterruptedException {
    engine.pause(true);
    // What the network still holds of the dead one would say otherwise.
    engine.proxy().faults(Faults.NONE);
    call(() -> processes.api().unregister(engine));
    engine.restart();
    register(engine);
    journal.say("unregistered, restarted, registered and quiet: " + engine.name());
  }

  /**
   * No bridge runs while engines send more than they can replay, and one that can: those are
   * degraded and nobody else, until one of them begins a new life.
   */
  void outage(FinalCheck check) throws InterruptedException {
    List<ChaosEngine> few =
        List.of(
            fleet.named("short-lost"), fleet.named("short-reborn"), fleet.named("short-spared"));
    for (ChaosEngine engine : few) {
      engine.proxy().faults(Faults.NONE);
      work(engine, 10);
    }
    if (!check.awaitQuiet(few, PATIENCE_NS)) {
      findings.wrong("engines with short replay buffers are not up to date before the outage");
      return;
    }
    processes.kill("bridge-1", 1_000);
    processes.kill("bridge-2", 1_000);
    work(few.get(0), 2 * Fleet.SHORT_REPLAY);
    work(few.get(1), 2 * Fleet.SHORT_REPLAY);
    work(few.get(2), Fleet.SHORT_REPLAY / 3);
    journal.say("no bridge while two engines send more than they can replay");
    if (!await(() -> degraded().containsAll(List.of("short-lost", "short-reborn")), PATIENCE_NS)) {
      findings.wrong("after the outage only " + degraded() + " are marked degraded");
    }
    few.get(1).restart();
    work(few.get(1), 20);
    journal.say("one of them is restarted: short-reborn");
  }

  private java.util.Set<String> degraded() throws InterruptedException {
    try {
      Prompt any = fleet.engines().get(0).sharedWatched().get(0);
      return processes.api().query("default", any).degraded();
    } catch (IOException e) {
      return java.util.Set.of();
    }
  }

  /** Waits until all our processes run and are ready, and no engine's replay is silent. */
  void awaitReady() throws InterruptedException {
    if (!await(() -> silent == null && processes.areReady(), PATIENCE_NS)) {
      findings.wrong("our processes are not ready after " + PATIENCE_NS / 1_000_000_000 + " s");
    }
  }

  /** A process that starts is killed as well as one that is ready, but not before it runs. */
  private void awaitRunning() throws InterruptedException {
    if (!await(processes::areRunning, PATIENCE_NS)) {
      findings.wrong("the indexer is not ready after " + PATIENCE_NS / 1_000_000_000 + " s");
    }
  }

  private void call(Call call) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NS;
    IOException last = new NoSuchFileException("never tried");
    while (System.nanoTime() - deadline < 0) {
      try {
        call.run();
        return;
      } catch (IOException e) {
        if (String.valueOf(e.getMessage()).contains("404")) {
          return; // done by a try whose answer got lost
        }
        last = e;
      }
      turn();
    }
    findings.wrong("a registration was not taken: " + last);
  }

  private void pause(long ms) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    await(() -> System.nanoTime() - until >= 0, PATIENCE_NS);
  }

  private boolean await(Condition condition, long withinNs) throws InterruptedException {
    long deadline = System.nanoTime() + withinNs;
    while (!condition.holds()) {
      if (System.nanoTime() - deadline >= 0) {
        return false;
      }
      turn();
    }
    return true;
  }

  private void turn() throws InterruptedException {
    if (thawAtNs != 0 && System.nanoTime() - thawAtNs >= 0) {
      thawAtNs = 0;
      processes.thaw("bridge-" + bridge);
    }
    ChaosEngine mute = silent;
    if (mute != null && System.nanoTime() - speakAtNs >= 0) {
      silent = null;
      mute.silenceReplay(false);
    }
    processes.turn();
    LockSupport.parkNanos(TURN_NS);
  }
}
