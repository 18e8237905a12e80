// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Brokers, bridges and indexers as {@code deploy/local-cluster.sh} runs them on a directory. What
 * it prints goes to this JVM's output. For one thread.
 */
final class LocalCluster implements AutoCloseable {

  private static final int PORTS = 40;
  private static final long COMMAND_MINUTES = 4;

  private final Path directory;
  private final int basePort;
  private final List<String> options;

  /**
   * @param options of {@code start}: how many of each, more flags for them
   */
  LocalCluster(Path directory, String... options) {
    this.directory = directory;
    this.basePort = freePorts();
    this.options = List.of(options);
  }

  void start() throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("--base-port", Integer.toString(basePort)));
    all.addAll(options);
    run("start", all);
  }

  /** A command that needs no more than a name. */
  void run(String command, String name) throws IOException, InterruptedException {
    run(command, List.of(name));
  }

  private void run(String command, List<String> more) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("bash", "../deploy/local-cluster.sh", command));
    words.addAll(more);
    words.addAll(List.of("--dir", directory.toString()));
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.environment().putAll(Map.of("JAVA_HOME", System.getProperty("java.home")));
    Path said = directory.resolve("said.txt");
    builder.redirectOutput(ProcessBuilder.Redirect.to(said.toFile()));
    Process process = builder.start();
    try {
      boolean ended = process.waitFor(COMMAND_MINUTES, TimeUnit.MINUTES);
      if (!ended || process.exitValue() != 0) {
        throw new AssertionError(words + " failed:\n" + Files.readString(said));
      }
    } finally {
      process.destroyForcibly();
    }
  }

  /** The API of an indexer, which may be down. */
  Api index(int number) {
    return new Api(URI.create("http://127.0.0.1:" + (basePort + 30 + number)));
  }

  /**
   * Stops all; none is left running, whatever goes wrong: the tests after this one need the
   * machine.
   */
  @Override
  public void close() throws IOException, InterruptedException {
    // Set when this test's time is over: it is not about what is to be done now.
    Thread.interrupted();
    List<ProcessHandle> running = running();
    try {
      run("stop", List.of());
    } finally {
      running.forEach(ProcessHandle::destroyForcibly);
    }
  }

  private List<ProcessHandle> running() throws IOException {
    List<ProcessHandle> running = new ArrayList<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(Files.createDirectories(directory.resolve("pid")), "*[0-9]")) {
      for (Path file : files) {
        ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).ifPresent(running::add);
      }
    }
    return running;
  }

  /** The first of a row of ports nobody listens on now, below those the system gives away. */
  private static int freePorts() {
    while (true) {
      int first = ThreadLocalRandom.current().nextInt(12_000, 32_000 - PORTS);
      if (areFree(first)) {
        return first;
      }
    }
  }

  private static boolean areFree(int first) {
    for (int port = first; port < first + PORTS; port++) {
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        assert socket.isBound();
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }
}
