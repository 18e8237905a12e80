// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * End-to-end load of {@code /query}: builds the {@link LoadShape} at a running {@code kvindex all}
 * through ZMQ, then asks as fast as the connections allow while the same publishers go on storing
 * and removing blocks. Several forms are asked for one after the other on the same state. Exit code
 * 1 on any error or wrong answer.
 */
public final class QueryLoad {
  private static final int CHECKED_FIRST = 32;
  private static final int KEPT_BATCHES = 2_000;
  private static final long BUILD_POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final long LOAD_POLL_NS = TimeUnit.SECONDS.toNanos(2);

  private final String host;
  private final int port;
  private final int pid;
  private final int connections;
  private final int warmUpSeconds;
  private final int firstWarmUpSeconds;
  private final int seconds;
  private final int churnBlocks;
  private final int checkEvery;
  private final int window;
  private final boolean publish;
  private final LoadShape shape;
  private final List<WireForm> forms;

  private QueryLoad(LoadOptions options) {
    host = options.text("host", "127.0.0.1");
    port = options.number("port", 13333);
    pid = options.number("pid", 0);
    connections = options.number("connections", 16);
    warmUpSeconds = options.number("warm-up", 100);
    firstWarmUpSeconds = options.number("first-warm-up", warmUpSeconds);
    seconds = options.number("seconds", 60);
    churnBlocks = options.number("churn", 10_000);
    checkEvery = options.number("check-every", 64);
    window = options.number("window", 256);
    publish = options.number("publish", 1) != 0;
    shape = LoadShape.of(options);
    forms = WireForm.parse(options.text("form", "json"));
    options.refuseUnknown();
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    System.exit(new QueryLoad(new LoadOptions(args)).run() ? 0 : 1);
  }

  private boolean run() throws Exception {
    ServerProcess server = pid == 0 ? ServerProcess.listeningOn(port) : new ServerProcess(pid);
    if (!publish) {
      return measureAll(server, null);
    }
    try (VisibleSequences visible =
            new VisibleSequences(host, port, shape.instances(), BUILD_POLL_NS);
        Fleet fleet = new Fleet(shape.instances(), KEPT_BATCHES, visible)) {
      build(fleet);
      visible.every(LOAD_POLL_NS);
      boolean right = measureAll(server, fleet);
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

  private boolean measureAll(ServerProcess server, @Nullable Fleet fleet) throws Exception {
    QueryRun run =
        new QueryRun(host, port, shape, server, fleet, connections, churnBlocks, checkEvery);
    List<QueryFigures> measured = new ArrayList<>();
    for (WireForm form : forms) {
      PromptBodies bodies = new PromptBodies(shape, form, host + ":" + port);
      if (!checkFirst(bodies)) {
        return false;
      }
      int warmUp = measured.isEmpty() ? firstWarmUpSeconds : warmUpSeconds;
      QueryFigures figures = run.measure(bodies, warmUp, seconds);
      figures.report();
      measured.add(figures);
    }
    if (measured.size() > 1) {
      QueryFigures.tableHead(shape, connections);
      measured.forEach(figures -> say("%s", figures.row()));
    }
    return measured.stream().allMatch(QueryFigures::right);
  }

  private boolean checkFirst(PromptBodies bodies) throws IOException {
    AnswerCheck check = new AnswerCheck(shape, bodies);
    int checked = Math.min(CHECKED_FIRST, shape.prompts());
    try (ControlClient control = new ControlClient(host, port)) {
      for (int i = 0; i < checked; i++) {
        int request = i * shape.prompts() / checked;
        String difference = check.difference(request, control.send(bodies.request(request)));
        if (difference != null) {
          say("%s: wrong before the load: %s", bodies.form().label(), difference);
          return false;
        }
      }
    }
    say(
        "%s: %d requests checked: every number of every instance is right",
        bodies.form().label(), checked);
    return true;
  }
}
