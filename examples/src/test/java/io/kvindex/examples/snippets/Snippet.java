// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.snippets;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The snippet of one language: the tools it needs, and how it is built and run. */
enum Snippet {
  CURL("kvindex.sh", "bash", "curl") {
    @Override
    List<String> command(Path source, Path program) {
      return List.of("bash", source.toString());
    }
  },
  PYTHON("kvindex.py", "python3") {
    @Override
    List<String> command(Path source, Path program) {
      return List.of("python3", source.toString());
    }
  },
  GO("kvindex.go", "go") {
    @Override
    List<String> build(Path source, Path program) {
      List<String> command = new ArrayList<>(List.of("go", "build"));
      command.addAll(QUICKLY);
      command.addAll(List.of("-o", program.toString(), source.toString()));
      return command;
    }
  },
  RUST("kvindex.rs", "rustc") {
    @Override
    List<String> build(Path source, Path program) {
      return List.of("rustc", "--edition", "2021", "-o", program.toString(), source.toString());
    }
  };

  /** A machine that compiles Go's HTTP library for the first time and has other things to do. */
  private static final long PATIENCE_SECONDS = 300;

  /** Go's HTTP library may be compiled for the first time, and for one run: not for speed. */
  private static final List<String> QUICKLY = List.of("-gcflags=all=-N -l", "-ldflags=-s -w");

  private final String file;
  private final List<String> tools;

  Snippet(String file, String... tools) {
    this.file = file;
    this.tools = List.of(tools);
  }

  /** What turns the source into a program, empty if nothing must. */
  List<String> build(Path source, Path program) {
    return List.of();
  }

  /** What runs it. */
  List<String> command(Path source, Path program) {
    return List.of(program.toString());
  }

  /** Tools this machine does not have. */
  List<String> missing() {
    return tools.stream().filter(tool -> !isInstalled(tool)).toList();
  }

  /**
   * Builds the snippet where it must be built.
   *
   * @param directory where what is built goes
   */
  void build(Path directory) throws Exception {
    List<String> build = build(source(), directory.resolve(name()));
    if (!build.isEmpty()) {
      execute(
          build,
          directory,
          Map.of("GOTOOLCHAIN", "local", "GOFLAGS", "-mod=mod", "CGO_ENABLED", "0"));
    }
  }

  /**
   * Runs the snippet.
   *
   * @param directory where it was built
   * @return what it printed, errors included
   * @throws AssertionError if it does not end in time or with another exit code than 0
   */
  String run(Path directory, Map<String, String> environment) throws Exception {
    return execute(command(source(), directory.resolve(name())), directory, environment);
  }

  private Path source() {
    return Path.of("snippets", file).toAbsolutePath();
  }

  private String execute(List<String> command, Path directory, Map<String, String> environment)
      throws Exception {
    Path output = Files.createTempFile(directory, name(), ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError(command + " does not end: " + Files.readString(output));
      }
    } finally {
      process.destroyForcibly();
    }
    if (process.exitValue() != 0) {
      throw new AssertionError(
          command + " ended with " + process.exitValue() + ": " + Files.readString(output));
    }
    return Files.readString(output);
  }

  private static boolean isInstalled(String tool) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Arrays.stream(path.split(File.pathSeparator, -1))
        .map(directory -> new File(directory, tool))
        .anyMatch(File::canExecute);
  }
}
