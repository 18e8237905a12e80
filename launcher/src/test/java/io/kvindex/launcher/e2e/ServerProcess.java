// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.awaitility.Awaitility.await;

import io.kvindex.launcher.Main;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** {@code kvindex all} in a JVM of its own, so that it can be killed like a real one. */
final class ServerProcess implements AutoCloseable {

  private final Path directory;
  private final int port;
  private final Api api;
  private Process process;

  ServerProcess(Path directory) {
    this.directory = directory;
    this.port = freePort();
    this.api = new Api(uri());
    this.process = start();
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + port);
  }

  Api api() {
    return api;
  }

  /** SIGKILL: nothing is flushed, nobody is told. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** Starts again on the same directory and port; returns at once. */
  void restart() {
    process = start();
  }

  /** Gives the process some time, less if it ends by itself. */
  void letRun(long milliseconds) throws InterruptedException {
    if (process.waitFor(milliseconds, TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("kvindex ended by itself with code " + process.exitValue());
    }
  }

  void awaitReady() {
    await()
        .pollInterval(Duration.ofMillis(50))
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              if (!process.isAlive()) {
                throw new IllegalStateException("kvindex ended with code " + process.exitValue());
              }
              return api.isReady();
            });
  }

  private Process start() {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    ProcessBuilder command =
        new ProcessBuilder(
            java.toString(),
            "-Xmx1g",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "all",
            "--http-port",
            Integer.toString(port),
            "--data-dir",
            directory.resolve("data").toString());
    command.environment().put("CONDUCTOR_CONFIG_PATH", directory.resolve("none.json").toString());
    command.redirectErrorStream(true);
    command.redirectOutput(
        ProcessBuilder.Redirect.appendTo(directory.resolve("server.log").toFile()));
    try {
      return command.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      kill();
    }
  }
}
