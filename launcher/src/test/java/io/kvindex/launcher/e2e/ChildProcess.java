// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import io.kvindex.launcher.Main;
import io.kvindex.model.chaos.Protection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * One {@code kvindex} command in a JVM of its own, so that it can be killed like a real one. For
 * one thread at a time.
 */
public final class ChildProcess implements AutoCloseable {

  private static final long CLOSE_SECONDS = 30;

  private static final int FIRST_PORT = 12_000;
  private static final int LAST_PORT = 32_000;
  private static final int PORTS_TRIED = 1_000;

  private final Path directory;
  private final Path log;
  private final List<String> options;
  private final List<String> arguments;
  private final Map<String, String> environment;
  private Process process;

  /**
   * @param directory for the log; nothing of the user's home is read
   * @param arguments command and flags
   */
  public ChildProcess(Path directory, String... arguments) {
    this(arguments[0], directory, List.of(arguments));
  }

  /**
   * The same with a name of its own for the log.
   *
   * @param name the log is {@code name.log}
   */
  public ChildProcess(String name, Path directory, List<String> arguments) {
    this(name, directory, List.of("-Xmx1g"), arguments);
  }

  /**
   * The same with other options for its JVM.
   *
   * @param options {@code -Xmx} at least
   */
  public ChildProcess(String name, Path directory, List<String> options, List<String> arguments) {
    this(name, directory, options, arguments, Map.of());
  }

  /**
   * The same with more in its environment.
   *
   * @param environment beside ours
   */
  public ChildProcess(
      String name,
      Path directory,
      List<String> options,
      List<String> arguments,
      Map<String, String> environment) {
    this.directory = directory;
    this.log = directory.resolve(name + ".log");
    this.options = List.copyOf(options);
    this.arguments = List.copyOf(arguments);
    this.environment = Map.copyOf(environment);
    this.process = start();
  }

  /** SIGKILL: nothing is flushed, nobody is told. */
  public void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** SIGTERM; returns at once. */
  public void askToStop() {
    process.destroy();
  }

  /** SIGSTOP: it stands still, and its connections stay. */
  public void freeze() throws InterruptedException {
    signal("STOP");
  }

  /** SIGCONT after {@link #freeze}. */
  public void thaw() throws InterruptedException {
    signal("CONT");
  }

  private void signal(String name) throws InterruptedException {
    try {
      Process kill =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start();
      if (kill.waitFor() != 0) {
        throw new IllegalStateException("kill -" + name + " failed with " + kill.exitValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts again with the same arguments; returns at once. */
  public void restart() {
    process = start();
  }

  /** Gives the process some time; it must not end by itself. */
  public void letRun(long milliseconds) throws InterruptedException {
    if (process.waitFor(milliseconds, TimeUnit.MILLISECONDS)) {
      failEnded();
    }
  }

  /** Fails if the process has ended. */
  public void requireAlive() {
    if (!process.isAlive()) {
      failEnded();
    }
  }

  private void failEnded() {
    throw new IllegalStateException(
        "kvindex " + arguments + " ended by itself with code " + process.exitValue());
  }

  /** Ends it with us if we are stopped: nobody else knows of it. */
  private static void dieWithUs(Process process) {
    Thread hook = new Thread(process::destroyForcibly, "end-child");
    Runtime.getRuntime().addShutdownHook(hook);
    process.onExit().thenRun(() -> forget(hook));
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running: we are being stopped.
    }
  }

  private Process start() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.add("-D" + Protection.PROPERTY + "=" + System.getProperty(Protection.PROPERTY, ""));
    command.addAll(ChildProgram.options());
    command.add(Main.class.getName());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("CONDUCTOR_CONFIG_PATH", directory.resolve("none.json").toString());
    builder.environment().put("KVINDEX_DRAIN", "0");
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    try {
      Process started = builder.start();
      dieWithUs(started);
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /**
   * A port nobody listens on now. None of those the system hands out by itself: somebody else would
   * get it before the process it is for is so far as to take it.
   */
  public static int freePort() {
    for (int i = 0; i < PORTS_TRIED; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IllegalStateException("no port is free from " + FIRST_PORT + " to " + LAST_PORT);
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }

  /** SIGTERM, and SIGKILL if that does not help. */
  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(CLOSE_SECONDS, TimeUnit.SECONDS)) {
      kill();
      throw new IllegalStateException("kvindex " + arguments + " did not stop on SIGTERM");
    }
  }
}
