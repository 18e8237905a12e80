// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.CopyConfig;
import io.kvindex.streams.IndexCopy;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What does a block operation cost in a whole copy: fold, checkpoint and the broker in the same
 * process? Fills a table, then stores 16 blocks and removes the 16 oldest in turn, one record each;
 * the records lie in the topic before the copy starts on them, so that it works as fast as it can.
 * Then how long a restart from the checkpoint takes, and a fold of the whole log.
 *
 * <p>Arguments: resident blocks (default 1,000,000), operations (default 1,000,000).
 */
public final class TableLoad {

  private static final int RUN = EventTopic.RUN;
  private static final Duration BOUND = Duration.ofMinutes(30);

  private final EmbeddedBroker broker;
  private final EventTopic topic;

  private TableLoad(EmbeddedBroker broker) {
    this.broker = broker;
    topic = new EventTopic(broker.bootstrapServers(), 1, 1);
  }

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    int resident = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
    int operations = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000_000;
    Path directory = Files.createTempDirectory("table-load");
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("broker"))) {
      EventTopic.create(broker.bootstrapServers(), 1);
      TableLoad load = new TableLoad(broker);
      for (int i = 0; i < resident; i += RUN) {
        load.topic.store(i);
      }
      load.measure("fill", resident, directory.resolve("state"));
      for (int i = 0; i < operations / 2; i += RUN) {
        load.topic.store(resident + i);
        load.topic.remove(i);
      }
      load.measure("store + remove", operations, directory.resolve("state"));
      load.measure("restart", resident, directory.resolve("state"));
      load.measure("from the log", resident + operations, directory.resolve("elsewhere"));
      load.topic.close();
    }
    System.out.println("files left in " + directory);
  }

  private void measure(String what, long operations, Path state) throws Exception {
    topic.flush();
    long wall = System.nanoTime();
    long cpu = cpu();
    CopyConfig config =
        CopyConfig.of(Map.of("bootstrap.servers", broker.bootstrapServers()), "table-load", state);
    try (IndexCopy app = IndexCopy.start(config, 1, true, List::of, new SimpleMeterRegistry())) {
      awaitEnd(app);
      double seconds = (System.nanoTime() - wall) / 1e9;
      System.out.printf(
          Locale.ROOT,
          "%s: %.1f s, %,.0f/s, %.2f us CPU each (broker included)%n",
          what,
          seconds,
          operations / seconds,
          (cpu() - cpu) / 1e3 / operations);
    }
  }

  private void awaitEnd(IndexCopy app) throws InterruptedException {
    long until = System.nanoTime() + BOUND.toNanos();
    while (System.nanoTime() < until) {
      PartitionView view = app.view(0);
      if (view != null && view.appliedOffset() >= topic.records() - 1) {
        return;
      }
      Thread.sleep(20);
    }
    throw new IllegalStateException("not at the end of the log after " + BOUND);
  }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
