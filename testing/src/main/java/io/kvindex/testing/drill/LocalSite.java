// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The processes of {@code deploy/local-cluster.sh} on a directory, killed and started by that
 * script. What it prints goes to {@code drill-cluster.log} there. For one thread.
 */
final class LocalSite {

  private static final int COMMAND_MINUTES = 10;
  private static final int HTTP_OF_INDEX = 30;

  private final Path script;
  private final Path directory;
  private final Path said;
  private Map<String, String> settings = Map.of();

  LocalSite(Path script, Path directory) {
    this.script = script;
    this.directory = directory.toAbsolutePath();
    this.said = this.directory.resolve("drill-cluster.log");
  }

  /**
   * Starts what does not run.
   *
   * @param options of the script's start
   */
  void start(List<String> options) throws IOException, InterruptedException {
    Files.createDirectories(directory);
    List<String> words = new ArrayList<>(List.of("start"));
    words.addAll(options);
    run(words.toArray(String[]::new));
    settings = settings();
  }

  /** What the directory remembers of an earlier start, empty = nothing. */
  String remembered() throws IOException {
    Path file = directory.resolve("settings");
    return Files.exists(file) ? Files.readString(file) : "";
  }

  /** Whether any process runs. */
  boolean runs() throws IOException, InterruptedException {
    if (remembered().isEmpty()) {
      return false;
    }
    Process process = builder("status").redirectErrorStream(true).start();
    String table =
        new String(
            process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    process.waitFor();
    return table.lines().skip(1).anyMatch(line -> !line.matches("\\S+ +- +down .*"));
  }

  private Map<String, String> settings() throws IOException {
    Map<String, String> all = new HashMap<>();
    for (String line : Files.readAllLines(directory.resolve("settings"))) {
      String[] parts = line.split("=", 2);
      all.put(parts[0], parts[1]);
    }
    return all;
  }

  private int number(String setting) {
    return Integer.parseInt(settings.getOrDefault(setting, "0"));
  }

  /** Partitions of the events topic. */
  int partitions() {
    return number("partitions");
  }

  /** Names of a kind's processes: {@code broker}, {@code bridge} or {@code index}. */
  List<String> names(String kind) {
    int count = number(kind.equals("index") ? "indexers" : kind + "s");
    List<String> names = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      names.add(kind + "-" + i);
    }
    return names;
  }

  /** Where an indexer answers. */
  URI uri(String index) {
    int own = Integer.parseInt(index.substring(index.indexOf('-') + 1));
    return URI.create("http://127.0.0.1:" + (number("base_port") + HTTP_OF_INDEX + own));
  }

  /** SIGKILL. */
  void kill(String name) throws IOException, InterruptedException {
    run("kill", name);
  }

  /** SIGSTOP. */
  void pause(String name) throws IOException, InterruptedException {
    run("pause", name);
  }

  /** SIGCONT. */
  void resume(String name) throws IOException, InterruptedException {
    run("resume", name);
  }

  /** In order; returns when it is ready again. */
  void restart(String name) throws IOException, InterruptedException {
    run("restart", name);
  }

  void stop() throws IOException, InterruptedException {
    run("stop");
  }

  /**
   * Runs a command of the script.
   *
   * @throws IOException if it fails; the message has what it said last
   */
  private void run(String... words) throws IOException, InterruptedException {
    ProcessBuilder builder = builder(words).redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(said.toFile()));
    Process process = builder.start();
    if (!process.waitFor(COMMAND_MINUTES, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new IOException(
          "local-cluster.sh " + Arrays.toString(words) + " does not end; see " + said);
    }
    if (process.exitValue() != 0) {
      List<String> lines = Files.readAllLines(said);
      throw new IOException(
          "local-cluster.sh "
              + String.join(" ", words)
              + " failed: "
              + (lines.isEmpty() ? "" : lines.get(lines.size() - 1))
              + " (more in "
              + said
              + ")");
    }
  }

  private ProcessBuilder builder(String... words) {
    List<String> command = new ArrayList<>(List.of("bash", script.toString()));
    command.addAll(List.of(words));
    command.addAll(List.of("--dir", directory.toString()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().remove("KVINDEX_JAVA_OPTS"); // those of this process
    return builder;
  }
}
