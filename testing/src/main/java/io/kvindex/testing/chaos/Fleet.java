// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.e2e.Faults;
import io.kvindex.launcher.e2e.LossyProxy;
import io.kvindex.sandbox.engine.EngineHashing;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.EventForm;
import io.kvindex.sandbox.engine.HostStoreForm;
import io.kvindex.testing.chaos.Prompt.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;

/**
 * The engines and a thread that keeps them busy: both engines' events in both forms, adapters,
 * salts, two tenants, host tiers, and caches so small that blocks come and go.
 */
final class Fleet implements AutoCloseable {

  /** Batches an engine with little memory can replay. */
  static final int SHORT_REPLAY = 120;

  /** An engine that is registered without a replay endpoint. */
  static final String WITHOUT_REPLAY = "unreplayed";

  private static final Faults ONLY_DUPLICATES = new Faults(0, 0.06, 0, 0);
  private static final long STEP_NS = TimeUnit.MICROSECONDS.toNanos(5_000);
  private static final int GPU_BLOCKS = 260;
  private static final int HOST_BLOCKS = 120;
  private static final int REPLAY = 1_000_000;
  private static final double REPLAY_LOSS = 0.002;
  private static final double REPEATING = 0.3;
  private static final String OTHER_TENANT = "customer-b";
  private static final Context SALTED = new Context(null, "salt-1");
  private static final Context ADAPTER = new Context("sql", null);
  private static final Context BOTH = new Context("chat", "salt-2");

  private final List<ChaosEngine> engines = new ArrayList<>();
  private final List<ChaosEngine> busy = new ArrayList<>();
  private final List<ChaosEngine> loaded = new ArrayList<>();
  private final List<Prompt> shared;
  private final long seed;
  private final boolean jumps;
  private final Random random;
  private final Thread thread = new Thread(this::run, "chaos-load");
  private volatile boolean running = true;

  /**
   * Binds ports; nothing is sent yet.
   *
   * @param withPoorReplays whether there are engines that replay little or nothing
   * @param oddities what else is odd about some
   */
  Fleet(long seed, boolean withPoorReplays, ChaosOptions.Oddities oddities)
      throws InterruptedException {
    this.seed = seed;
    this.jumps = oddities.clockJumps();
    random = new Random(seed + 1);
    shared = Prompts.shared(seed);
    EngineOptions vllm = EngineOptions.vllm("vllm-map").hostBlocks(HOST_BLOCKS);
    add(true, vllm, "default", List.of(Context.PLAIN));
    add(
        true,
        EngineOptions.vllm("vllm-array").form(EventForm.ARRAY).hashing(EngineHashing.RANDOM),
        "default",
        List.of(Context.PLAIN, ADAPTER));
    add(true, EngineOptions.sglang("sglang-map"), "default", List.of(Context.PLAIN, SALTED));
    add(
        true,
        EngineOptions.sglang("sglang-array").form(EventForm.ARRAY).hostBlocks(HOST_BLOCKS),
        "default",
        List.of(Context.PLAIN));
    add(
        true,
        EngineOptions.vllm("vllm-offload")
            .hostStores(HostStoreForm.PLACEHOLDER)
            .hostBlocks(HOST_BLOCKS),
        OTHER_TENANT,
        List.of(Context.PLAIN, ADAPTER, SALTED, BOTH));
    add(
        true,
        EngineOptions.vllm("vllm-salted").form(EventForm.ARRAY),
        OTHER_TENANT,
        List.of(SALTED, BOTH));
    add(true, EngineOptions.vllm("silent"), "default", List.of(Context.PLAIN));
    if (oddities.fullReports()) {
      add(
          true,
          EngineOptions.vllm("vllm-repeating").fullReports(REPEATING),
          "default",
          List.of(Context.PLAIN));
    }
    if (withPoorReplays) {
      for (String name : List.of("short-lost", "short-reborn", "short-spared")) {
        add(
            false,
            EngineOptions.vllm(name).replayBatches(SHORT_REPLAY),
            "default",
            List.of(Context.PLAIN));
      }
      addWithoutReplay();
    }
    loaded.addAll(busy);
    engines.stream().filter(engine -> !engine.hasReplay()).forEach(loaded::add);
  }

  /** Its way loses nothing by itself: what is lost is lost for good. */
  private void addWithoutReplay() throws InterruptedException {
    add(
        false,
        EngineOptions.vllm(WITHOUT_REPLAY).replayBatches(0),
        "default",
        List.of(Context.PLAIN));
    named(WITHOUT_REPLAY).proxy().faults(ONLY_DUPLICATES);
  }

  private void add(boolean isBusy, EngineOptions options, String tenant, List<Context> contexts) {
    int number = engines.size();
    if (isBusy) {
      options.replayBatches(REPLAY).replayLoss(REPLAY_LOSS);
    }
    SetClock clock = new SetClock(jumps, seed + number);
    ChaosEngine engine =
        new ChaosEngine(
            number,
            options.gpuBlocks(GPU_BLOCKS).seed(seed + number).clock(clock),
            clock,
            tenant,
            contexts,
            shared,
            seed + number * 100);
    engines.add(engine);
    if (isBusy) {
      busy.add(engine);
    }
  }

  List<ChaosEngine> engines() {
    return engines;
  }

  /** Those that still have something to say at the end. */
  List<ChaosEngine> loud() {
    return engines.stream().filter(engine -> !engine.name().equals("silent")).toList();
  }

  /** Those that can replay all they sent: anything may be done to them. */
  List<ChaosEngine> busy() {
    return busy;
  }

  ChaosEngine named(String name) {
    return engines.stream()
        .filter(engine -> engine.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no engine " + name));
  }

  void start() {
    thread.start();
  }

  private void run() {
    while (running) {
      loaded.get(random.nextInt(loaded.size())).work(random);
      LockSupport.parkNanos(STEP_NS);
    }
  }

  /** No engine gets work any more. */
  void stopLoad() throws InterruptedException {
    running = false;
    thread.join();
  }

  /** From now on everything is passed on as it is. */
  void stopFaults() throws InterruptedException {
    for (ChaosEngine engine : engines) {
      engine.proxy().faults(Faults.NONE);
    }
  }

  /** Over all proxies. */
  long sum(ToLongFunction<LossyProxy> counter) {
    return engines.stream().flatMap(engine -> engine.proxies().stream()).mapToLong(counter).sum();
  }

  /** Lives beyond the first ones. */
  int engineRestarts() {
    return engines.stream().mapToInt(engine -> engine.lives().size() - 1).sum();
  }

  @Override
  public void close() throws InterruptedException {
    stopLoad();
    for (ChaosEngine engine : engines) {
      engine.close();
    }
  }
}
