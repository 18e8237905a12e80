// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The server under load, and the fleet of publishers that loads it through ZMQ.
 *
 * @param pid of the server, 0 = whoever listens on the port
 * @param resident blocks that all publishers hold together
 * @param window most batches of a publisher that are not visible yet
 */
record FleetSetup(String host, int port, int pid, int publishers, int resident, int window) {
  private static final int KEPT_BATCHES = 10_000;
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);

  /** As the command line has it; with that many publishers, and that window, by default. */
  static FleetSetup of(LoadOptions options, int publishers, int window) {
    return new FleetSetup(
        options.text("host", "127.0.0.1"),
        options.number("port", 13333),
        options.number("pid", 0),
        options.number("publishers", publishers),
        options.number("resident", 1_000_000),
        options.number("window", window));
  }

  ServerProcess server() throws IOException {
    return pid == 0 ? ServerProcess.listeningOn(port) : new ServerProcess(pid);
  }

  /** Polls what is visible of all publishers. */
  VisibleSequences visible() throws IOException {
    return new VisibleSequences(host, port, publishers, POLL_NS);
  }

  /** All publishers, not registered yet. */
  Fleet fleet(VisibleSequences visible) {
    return new Fleet(publishers, KEPT_BATCHES, visible);
  }

  /** What each publisher stores and evicts, {@code blocks} of all together. */
  List<Churn> churns(int blocks) {
    List<Churn> churns = new ArrayList<>();
    for (int i = 0; i < publishers; i++) {
      churns.add(new Churn(i, blocks / publishers, null));
    }
    return churns;
  }
}
