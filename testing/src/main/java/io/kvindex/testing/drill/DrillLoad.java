// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import io.kvindex.testing.drill.DrillOptions.Load;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Engines, routers and markers: everything that goes on while processes are killed. {@link #hold}
 * and {@link #release} are for one thread.
 */
final class DrillLoad implements AutoCloseable {

  private static final int PINNED_TEXTS = 8;
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

  private final List<Table> tables = new ArrayList<>();
  private final List<DrillEngine> engines = new ArrayList<>();
  private final List<List<Text>> pinned = new ArrayList<>();
  private final Semaphore gate = new Semaphore(1, true);
  private final Staleness staleness = new Staleness();
  private final Tallies tallies;
  private final HitRate hitRate = new HitRate();
  private final Load load;
  private final Duration requestTimeout;
  private final EngineLoad engineLoad;
  private final Markers markers;
  private final Router router;
  private final QueryLoad queries;
  private final List<RouterReplica> replicas;
  private final Thread engineThread;
  private final ScheduledExecutorService timers;
  private final long watchEveryNs;
  private volatile @Nullable Throwable failure;

  DrillLoad(DrillOptions options, int partitions, List<RouterReplica> replicas, Tallies tallies) {
    this.load = options.load();
    this.requestTimeout = options.requestTimeout();
    this.replicas = replicas;
    this.tallies = tallies;
    // Without Kafka for minutes, all markers of that time are asked for each time: seconds are
    // exact enough then, and routers' questions stay most of the load.
    watchEveryNs = options.outageSeconds() > 0 ? SECOND_NS : MarkerWatch.EVERY_NS;
    Random random = new Random(options.seed());
    int run = random.nextInt(Integer.MAX_VALUE);
    makeEngines(Table.models(Math.min(partitions, load.instances()), partitions), run);
    engineLoad =
        new EngineLoad(
            engines, load, EngineLoad.turns(load, tables.size()), gate, random.nextLong());
    markers = new Markers(tables, gate, run);
    router = new Router(replicas, tallies, options.requestTimeout());
    queries =
        new QueryLoad(
            new Questions(tables, pinned, run),
            router,
            new TruthCheck(TimeUnit.MILLISECONDS.toNanos(options.allowedStaleMs())),
            tallies,
            hitRate,
            options.outageSeconds() > 0,
            random.nextLong());
    engineThread = new Thread(() -> guarded(engineLoad), "drill-engines");
    engineThread.setDaemon(true);
    timers =
        Executors.newScheduledThreadPool(
            2 + replicas.size(),
            task -> {
              Thread thread = new Thread(task, "drill-timer");
              thread.setDaemon(true);
              return thread;
            });
  }

  private void makeEngines(List<String> models, int run) {
    for (int t = 0; t < models.size(); t++) {
      List<DrillEngine> some = new ArrayList<>();
      for (int i = t; i < load.instances(); i += models.size()) {
        some.add(
            new DrillEngine("drill-" + i, i, run, load.blocks(), load.replayBatches(), run + i));
      }
      tables.add(new Table(t, models.get(t), List.copyOf(some)));
      engines.addAll(some);
      pinned.add(pin(some, t, run));
    }
  }

  /** The first text is everybody's, each other one is held by every other engine. */
  private static List<Text> pin(List<DrillEngine> some, int table, int run) {
    List<Text> texts = new ArrayList<>();
    for (int i = 0; i < PINNED_TEXTS; i++) {
      Text text = new Text(Text.Kind.PINNED, run, table, i);
      texts.add(text);
      for (int e = 0; e < some.size(); e++) {
        if (i == 0 || (i + e) % 2 == 0) {
          some.get(e).pin(text);
        }
      }
    }
    return texts;
  }

  /** Registers all engines. */
  void register(SiteApi api) throws IOException, InterruptedException {
    for (Table table : tables) {
      for (DrillEngine engine : table.engines()) {
        api.register(engine, table.model());
      }
    }
  }

  /** Takes the engines off the site. */
  void unregister(SiteApi api) throws IOException, InterruptedException {
    for (Table table : tables) {
      for (DrillEngine engine : table.engines()) {
        api.unregister(engine, table.model());
      }
    }
  }

  /** Engines and markers begin; nobody asks yet. */
  void startEngines() {
    engineThread.start();
    after(Markers.EVERY_NS, markers);
    for (RouterReplica replica : replicas) {
      after(watchEveryNs, new MarkerWatch(replica, markers, staleness, tallies, requestTimeout));
    }
  }

  /** Routers begin to ask. */
  void startQueries() {
    long ns = SECOND_NS / load.queries();
    timers.scheduleAtFixedRate(() -> guarded(queries), ns, ns, TimeUnit.NANOSECONDS);
  }

  /** What could not be done in time is not made up for. */
  private void after(long ns, Runnable task) {
    timers.scheduleWithFixedDelay(() -> guarded(task), ns, ns, TimeUnit.NANOSECONDS);
  }

  private void guarded(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      failure = e;
      throw e;
    }
  }

  /**
   * Fails if a part of the load has ended: what it would have found is not known.
   *
   * @throws IllegalStateException with the cause
   */
  void requireGoing() {
    Throwable cause = failure;
    if (cause != null) {
      throw new IllegalStateException("the drill itself failed: " + cause, cause);
    }
  }

  /** Engines say nothing until {@link #release}; routers go on. */
  void hold() {
    gate.acquireUninterruptibly();
  }

  void release() {
    gate.release();
  }

  List<Table> tables() {
    return tables;
  }

  List<DrillEngine> engines() {
    return engines;
  }

  List<RouterReplica> replicas() {
    return replicas;
  }

  Staleness staleness() {
    return staleness;
  }

  Tallies tallies() {
    return tallies;
  }

  HitRate hitRate() {
    return hitRate;
  }

  /** Blocks stored and evicted so far. */
  long operations() {
    return engineLoad.operations();
  }

  @Override
  public void close() throws InterruptedException {
    timers.shutdownNow();
    timers.awaitTermination(10, TimeUnit.SECONDS);
    engineThread.interrupt();
    engineThread.join(TimeUnit.SECONDS.toMillis(10));
    router.close();
    engines.forEach(DrillEngine::close);
  }
}
