// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * The load itself: one thread and one selector keep every connection busy with the next request of
 * a fixed shuffled round. No thinking time: a closed loop of {@code connections} clients.
 */
final class QueryClient {
  private static final long SELECT_MS = 1_000;
  private static final int PRINTED = 5;
  private static final int STRIDE = 2_654_435; // odd and coprime to the prompts of any sane load

  private final LoadShape shape;
  private final PromptBodies bodies;
  private final AnswerCheck check;
  private final int checkEvery;
  private final Histogram latencies = new Histogram();
  private boolean measuring;
  private long sent;
  private long answers;
  private long errors;
  private long checked;
  private long wrong;
  private double ownCpuSeconds;

  QueryClient(LoadShape shape, PromptBodies bodies, int checkEvery) {
    this.shape = shape;
    this.bodies = bodies;
    this.checkEvery = checkEvery;
    check = new AnswerCheck(shape, bodies);
  }

  /** Runs once, in the caller's thread; the two marks enclose what is measured. */
  void run(
      String host, int port, int connections, long warmUpNanos, long nanos, Mark begin, Mark end)
      throws IOException {
    try (Selector selector = Selector.open()) {
      for (int i = 0; i < connections; i++) {
        new QueryConnection(bodies, host, port, selector).send(nextRequest());
      }
      drive(selector, System.nanoTime() + warmUpNanos);
      measuring = true;
      begin.reached();
      long cpu = cpuNanos();
      drive(selector, System.nanoTime() + nanos);
      ownCpuSeconds = (cpuNanos() - cpu) / 1e9;
      end.reached();
      for (SelectionKey key : selector.keys()) {
        connection(key).close();
      }
    }
  }

  /** Something to note at the border of the measured time. */
  interface Mark {
    void reached() throws IOException;
  }

  private void drive(Selector selector, long deadline) throws IOException {
    while (System.nanoTime() < deadline) {
      int ready = selector.select(this::advance, SELECT_MS);
      if (ready == 0 && System.nanoTime() < deadline - TimeUnit.MILLISECONDS.toNanos(SELECT_MS)) {
        errors++; // nobody answered for a second
      }
    }
  }

  private void advance(SelectionKey key) {
    QueryConnection connection = connection(key);
    try {
      if (connection.advance()) {
        answered(connection);
        connection.send(nextRequest());
      }
    } catch (IOException e) {
      throw new IllegalStateException("a connection broke: " + e.getMessage(), e);
    }
  }

  private void answered(QueryConnection connection) throws IOException {
    long nanos = System.nanoTime() - connection.startedNanos();
    if (measuring) {
      latencies.record(nanos);
      answers++;
    }
    if (!connection.ok()) {
      errors++;
      report("error", new String(connection.body(), StandardCharsets.UTF_8), errors);
    } else if (sent % checkEvery == 0) {
      checked++;
      String difference = check.difference(connection.request(), connection.body());
      if (difference != null) {
        wrong++;
        report("wrong answer", difference, wrong);
      }
    }
  }

  private static void report(String what, String text, long times) {
    if (times <= PRINTED) {
      System.err.println(what + ": " + text);
    }
  }

  private int nextRequest() {
    return (int) (sent++ * STRIDE % shape.prompts());
  }

  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static QueryConnection connection(SelectionKey key) {
    return (QueryConnection) key.attachment();
  }

  Histogram latencies() {
    return latencies;
  }

  long answers() {
    return answers;
  }

  long errors() {
    return errors;
  }

  long checked() {
    return checked;
  }

  long wrong() {
    return wrong;
  }

  /** CPU of the client's thread while measured; building bodies and publishing not included. */
  double ownCpuSeconds() {
    return ownCpuSeconds;
  }
}
