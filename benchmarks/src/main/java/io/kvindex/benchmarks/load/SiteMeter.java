// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** CPU that each process of a site spent between two moments. */
final class SiteMeter {
  private final Map<String, CpuMeter> meters = new LinkedHashMap<>();

  /**
   * @param processes {@code name=pid}, with commas between; empty = none
   */
  SiteMeter(String processes) {
    for (String process : processes.split(",")) {
      if (!process.isEmpty()) {
        String[] named = process.split("=", 2);
        meters.put(named[0], new CpuMeter(new ServerProcess(Long.parseLong(named[1]))));
      }
    }
  }

  void start() throws IOException {
    for (CpuMeter meter : meters.values()) {
      meter.start();
    }
  }

  void stop() throws IOException {
    for (CpuMeter meter : meters.values()) {
      meter.stop();
    }
  }

  /** Prints what each one spent; nothing where there are none. */
  void say() {
    if (!meters.isEmpty()) {
      Console.say(
          "cores by process        %s",
          meters.entrySet().stream()
              .map(meter -> String.format("%s %.2f", meter.getKey(), meter.getValue().cores()))
              .collect(Collectors.joining(", ")));
    }
  }
}
