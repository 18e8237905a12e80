// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.awaitility.Awaitility.await;

import io.kvindex.launcher.chaos.ChildProcess;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/** A process with the HTTP API of an index. */
final class ServerProcess implements AutoCloseable {

  private final ChildProcess process;
  private final Api api;

  private ServerProcess(ChildProcess process, int port) {
    this.process = process;
    this.api = new Api(URI.create("http://127.0.0.1:" + port));
  }

  /** {@code kvindex all} on a directory. */
  static ServerProcess all(Path directory) {
    int port = ChildProcess.freePort();
    String data = directory.resolve("data").toString();
    return new ServerProcess(
        new ChildProcess(
            directory, "all", "--http-port", Integer.toString(port), "--data-dir", data),
        port);
  }

  /** {@code kvindex index} against a broker. */
  static ServerProcess index(Path directory, String kafka) {
    int port = ChildProcess.freePort();
    String data = directory.resolve("index").toString();
    return new ServerProcess(
        new ChildProcess(
            directory,
            "index",
            "--kafka",
            kafka,
            "--http-port",
            Integer.toString(port),
            "--data-dir",
            data),
        port);
  }

  Api api() {
    return api;
  }

  ChildProcess process() {
    return process;
  }

  void awaitReady() {
    await()
        .pollInterval(Duration.ofMillis(50))
        .atMost(Duration.ofSeconds(90))
        .until(
            () -> {
              process.requireAlive();
              return api.isReady();
            });
  }

  @Override
  public void close() throws InterruptedException {
    process.close();
  }
}
