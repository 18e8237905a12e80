// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * End-to-end load of {@code /query}: builds the {@link LoadShape} at a running {@code kvindex all}
 * through ZMQ, then asks as fast as the connections allow while the same publishers go on storing
 * and removing blocks. Exit code 1 on any error or wrong answer.
 */
public final class QueryLoad {
  private static final int CHECKED_FIRST = 32;
  private static final int CHURN_RESIDENT = 512;
  private static final int KEPT_BATCHES = 2_000;
  private static final long BUILD_POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final long LOAD_POLL_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(2);

  private final String host;
  private final int port;
  private final int pid;
  private final int connections;
  private final int warmUpSeconds;
  private final int seconds;
  private final int churnBlocks;
  private final int checkEvery;
  private final int window;
  private final boolean publish;
  private final LoadShape shape;

  private QueryLoad(LoadOptions options) {
    host = options.text("host", "127.0.0.1");
    port = options.number("port", 13333);
    pid = options.number("pid", 0);
    connections = options.number("connections", 16);
    warmUpSeconds = options.number("warm-up", 100);
    seconds = options.number("seconds", 60);
    churnBlocks = options.number("churn", 10_000);
    checkEvery = options.number("check-every", 64);
    window = options.number("window", 256);
    publish = options.number("publish", 1) != 0;
    shape = LoadShape.of(options);
    options.refuseUnknown();
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    System.exit(new QueryLoad(new LoadOptions(args)).run() ? 0 : 1);
  }

  private boolean run() throws Exception {
    ServerProcess server = pid == 0 ? ServerProcess.listeningOn(port) : new ServerProcess(pid);
    PromptBodies bodies = new PromptBodies(shape, host + ":" + port);
    if (!publish) {
      return checkFirst(bodies) && measure(server, null, bodies);
    }
    try (VisibleSequences visible =
            new VisibleSequences(host, port, shape.instances(), BUILD_POLL_NS);
        Fleet fleet = new Fleet(shape.instances(), KEPT_BATCHES, visible)) {
      build(fleet);
      visible.every(LOAD_POLL_NS);
      boolean right = checkFirst(bodies) && measure(server, fleet, bodies);
      fleet.leave(host, port);
      return right;
    }
  }

  private void build(Fleet fleet) throws IOException {
    fleet.join(host, port);
    say("%d publishers joined; building: %s", fleet.size(), shape);
    long start = System.nanoTime();
    long copies = new QueryState(shape, fleet, window).build();
    double took = (System.nanoTime() - start) / 1e9;
    say("state visible: %,d block copies in %.1f s (%,.0f/s)", copies, took, copies / took);
  }

  private boolean checkFirst(PromptBodies bodies) throws IOException {
    AnswerCheck check = new AnswerCheck(shape);
    try (ControlClient control = new ControlClient(host, port)) {
      for (int i = 0; i < CHECKED_FIRST; i++) {
        int prompt = i * shape.prompts() / CHECKED_FIRST;
        JsonNode answer = control.post("/query", bodies.body(prompt));
        String difference = check.difference(prompt, answer);
        if (difference != null) {
          say("wrong before the load: %s", difference);
          return false;
        }
      }
    }
    say("%d prompts checked: every number of every instance is right", CHECKED_FIRST);
    return true;
  }

  private boolean measure(ServerProcess server, @Nullable Fleet fleet, PromptBodies bodies)
      throws Exception {
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
    double churned = fleet == null ? 0 : churnUntil(load, fleet);
    load.get();
    report(client, cpu, own, churned);
    return client.errors() == 0 && client.wrong() == 0;
  }

  /** Paced by the clock, never by the server; block operations a second. */
  private double churnUntil(CompletableFuture<Void> load, Fleet fleet) {
    List<Churn> churns = new ArrayList<>();
    for (int i = 0; i < fleet.size(); i++) {
      churns.add(new Churn(i, CHURN_RESIDENT, shape));
    }
    long start = System.nanoTime();
    long operations = 0;
    int turn = 0;
    while (!load.isDone()) {
      long due = (long) ((System.nanoTime() - start) / 1e9 * churnBlocks * 2);
      while (operations < due) {
        int publisher = turn++ % fleet.size();
        operations += churns.get(publisher).step(fleet.get(publisher));
      }
      fleet.serve();
      LockSupport.parkNanos(TICK_NS);
    }
    return operations / ((System.nanoTime() - start) / 1e9);
  }

  private void report(QueryClient client, CpuMeter cpu, CpuMeter own, double churned) {
    Histogram latencies = client.latencies();
    say("");
    say("tokens a prompt         %d", shape.promptTokens());
    say("connections             %d", connections);
    say("block operations meanwhile  %,.0f/s (half stores, half removals)", churned);
    say("queries                 %,d in %.1f s", client.answers(), cpu.wallSeconds());
    say("requests/s              %,.0f", client.answers() / cpu.wallSeconds());
    say(
        "latency p50 / p99 / max %.0f / %.0f / %.0f us",
        latencies.quantile(0.5) / 1e3, latencies.quantile(0.99) / 1e3, latencies.max() / 1e3);
    say("errors                  %d", client.errors());
    say("answers checked / wrong %,d / %d", client.checked(), client.wrong());
    say(
        "server CPU per query    %.1f us (whole process: its broker, bridge and ingest included)",
        cpu.cpuSeconds() * 1e6 / client.answers());
    say("server CPU              %.2f cores: %s", cpu.cores(), cpu.threads());
    say(
        "client CPU per query    %.1f us (query thread), %.2f cores with the publishers",
        client.ownCpuSeconds() * 1e6 / client.answers(), own.cores());
    say(
        "others on this machine  %.2f cores",
        Math.max(0, cpu.machineCores() - cpu.cores() - own.cores()));
  }
}
