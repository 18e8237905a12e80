// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A process with the HTTP API of an index. */
final class ServerProcess implements AutoCloseable {

  private final ChildProcess process;
  private final String url;
  private final Api api;

  private ServerProcess(ChildProcess process, int port) {
    this.process = process;
    url = "http://127.0.0.1:" + port;
    api = new Api(URI.create(url));
  }

  /** {@code kvindex all} on a directory. */
  static ServerProcess all(Path directory) {
    return all(directory, Map.of());
  }

  /** The same with more in its environment. */
  static ServerProcess all(Path directory, Map<String, String> environment) {
    int port = ChildProcess.freePort();
    String data = directory.resolve("data").toString();
    return new ServerProcess(
        new ChildProcess(
            "all",
            directory,
            List.of("-Xmx1g"),
            List.of("all", "--http-port", Integer.toString(port), "--data-dir", data),
            environment),
        port);
  }

  /** {@code kvindex index} against a broker. */
  static ServerProcess index(Path directory, String kafka) {
    return index("index", directory, kafka, Map.of());
  }

  /** One of several, with more in its environment. */
  static ServerProcess index(
      String name, Path directory, String kafka, Map<String, String> environment) {
    int port = ChildProcess.freePort();
    return new ServerProcess(
        new ChildProcess(
            name,
            directory,
            List.of("-Xmx1g"),
            List.of(
                "index",
                "--kafka",
                kafka,
                "--http-port",
                Integer.toString(port),
                "--data-dir",
                directory.resolve(name).toString()),
            environment),
        port);
  }

  String url() {
    return url;
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
        .atMost(Duration.ofSeconds(180))
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
