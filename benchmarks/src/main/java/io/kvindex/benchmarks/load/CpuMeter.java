// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** CPU a process spent between two moments. Nothing is subtracted. */
final class CpuMeter {
  private static final int LISTED = 12;

  private final ServerProcess process;
  private double seconds;
  private double machineSeconds;
  private long nanos;
  private Map<String, Double> threads = Map.of();

  CpuMeter(ServerProcess process) {
    this.process = process;
  }

  void start() throws IOException {
    seconds = process.cpuSeconds();
    machineSeconds = ServerProcess.machineCpuSeconds();
    threads = process.cpuSecondsByThread();
    nanos = System.nanoTime();
  }

  /** Ends the measured time; the getters now tell of it. */
  void stop() throws IOException {
    nanos = System.nanoTime() - nanos;
    seconds = process.cpuSeconds() - seconds;
    machineSeconds = ServerProcess.machineCpuSeconds() - machineSeconds;
    Map<String, Double> spent = new TreeMap<>();
    process
        .cpuSecondsByThread()
        .forEach((name, cpu) -> spent.put(name, cpu - threads.getOrDefault(name, 0.0)));
    threads = spent;
  }

  double cpuSeconds() {
    return seconds;
  }

  double wallSeconds() {
    return nanos / 1e9;
  }

  double cores() {
    return seconds / wallSeconds();
  }

  /** Cores the whole machine was busy with: what is more than server and load is somebody else. */
  double machineCores() {
    return machineSeconds / wallSeconds();
  }

  /** The busiest thread names with their share of one core, most first. */
  String threads() {
    return threads.entrySet().stream()
        .filter(thread -> thread.getValue() > 0.005 * wallSeconds())
        .sorted(Comparator.comparingDouble(thread -> -thread.getValue()))
        .limit(LISTED)
        .map(t -> String.format("%s %.0f%%", t.getKey(), 100 * t.getValue() / wallSeconds()))
        .collect(Collectors.joining(", "));
  }
}
