// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Asks a server that holds a {@link LoadShape} as fast as the connections allow, while the same
 * publishers go on storing and removing blocks. Used by one thread.
 */
final class QueryRun {
  private static final int CHURN_RESIDENT = 512;
  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long IDLE_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final String host;
  private final int port;
  private final LoadShape shape;
  private final ServerProcess server;
  private final @Nullable Fleet fleet;
  private final int connections;
  private final int churnBlocks;
  private final int checkEvery;
  private final List<Churn> churns = new ArrayList<>();

  /**
   * @param fleet who stores and removes, null for nobody
   * @param churnBlocks blocks stored a second, and as many removed
   * @param checkEvery one answer in so many is compared
   */
  QueryRun(
      String host,
      int port,
      LoadShape shape,
      ServerProcess server,
      @Nullable Fleet fleet,
      int connections,
      int churnBlocks,
      int checkEvery) {
    this.host = host;
    this.port = port;
    this.shape = shape;
    this.server = server;
    this.fleet = fleet;
    this.connections = connections;
    this.churnBlocks = churnBlocks;
    this.checkEvery = checkEvery;
    for (int i = 0; i < shape.instances(); i++) {
      churns.add(new Churn(i, CHURN_RESIDENT, shape));
    }
  }

  /** What each publisher stores and removes. */
  List<Churn> churns() {
    return churns;
  }

  QueryFigures measure(PromptBodies bodies, int warmUpSeconds, int seconds) throws Exception {
    CpuMeter cpu = new CpuMeter(server);
    CpuMeter own = new CpuMeter(new ServerProcess(ProcessHandle.current().pid()));
    QueryClient client = new QueryClient(shape, bodies, checkEvery);
    CompletableFuture<Void> load = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                client.run(
                    host,
                    port,
                    connections,
                    TimeUnit.SECONDS.toNanos(warmUpSeconds),
                    TimeUnit.SECONDS.toNanos(seconds),
                    () -> {
                      cpu.start();
                      own.start();
                    },
                    () -> {
                      cpu.stop();
                      own.stop();
                    });
                load.complete(null);
              } catch (IOException | RuntimeException e) {
                load.completeExceptionally(e);
              }
            },
            "query-load");
    thread.start();
    double churned = churnUntil(load);
    load.get();
    return new QueryFigures(shape, connections, bodies.form(), client, cpu, own, churned);
  }

  /** Stores and removes, paced by the clock, never by the server; block operations a second. */
  double churnUntil(Future<?> end) {
    Fleet publishers = fleet;
    long start = System.nanoTime();
    long operations = 0;
    int turn = 0;
    while (!end.isDone()) {
      long due = (long) ((System.nanoTime() - start) / 1e9 * churnBlocks * 2);
      while (publishers != null && operations < due) {
        int publisher = turn++ % publishers.size();
        operations += churns.get(publisher).step(publishers.get(publisher));
      }
      if (publishers != null) {
        publishers.serve();
      }
      LockSupport.parkNanos(churnBlocks == 0 ? IDLE_NS : TICK_NS);
    }
    return operations / ((System.nanoTime() - start) / 1e9);
  }
}
