// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import java.nio.file.Path;

/** {@code kvindex broker} as a process of its own, on a free port, and bridges against it. */
final class BrokerProcess implements AutoCloseable {

  private final Path directory;
  private final String address;
  private final ChildProcess process;

  private BrokerProcess(Path directory, int port) {
    this.directory = directory;
    this.address = "127.0.0.1:" + port;
    this.process =
        new ChildProcess(
            directory,
            "broker",
            "--port",
            Integer.toString(port),
            "--data-dir",
            directory.resolve("b").toString());
  }

  /** Starts it; who needs it waits for it. */
  static BrokerProcess start(Path directory) {
    return new BrokerProcess(directory, ChildProcess.freePort());
  }

  /** What {@code --kafka} takes. */
  String address() {
    return address;
  }

  /** Starts a bridge against it; the caller closes it. */
  ChildProcess bridge() {
    return new ChildProcess(directory, "bridge", "--kafka", address, "--http-port", "0");
  }

  void requireAlive() {
    process.requireAlive();
  }

  @Override
  public void close() throws InterruptedException {
    process.close();
  }
}
