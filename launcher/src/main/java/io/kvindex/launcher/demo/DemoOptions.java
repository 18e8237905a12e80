// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a demo run does. */
final class DemoOptions {

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description =
          "Trace to replay, one JSON request a line (default: a bundled slice of Mooncake's conversation trace).")
  @Nullable Path trace;

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "Requests to replay (default: ${DEFAULT-VALUE}).",
      defaultValue = "600")
  int requests;

  @Option(
      names = "--engines",
      paramLabel = "N",
      description = "Engines in each fleet (default: ${DEFAULT-VALUE}).",
      defaultValue = "8")
  int engines;

  @Option(
      names = "--speed",
      paramLabel = "X",
      description = "Times faster than the trace (default: ${DEFAULT-VALUE}).",
      defaultValue = "5")
  double speed;

  @Option(
      names = "--gpu-blocks",
      paramLabel = "N",
      description = "Blocks of 16 tokens each engine's GPU holds (default: ${DEFAULT-VALUE}).",
      defaultValue = "30000")
  int gpuBlocks;

  @Option(
      names = "--host-blocks",
      paramLabel = "N",
      description = "Blocks each engine's host tier holds (default: ${DEFAULT-VALUE}).",
      defaultValue = "30000")
  int hostBlocks;

  /**
   * Checks them.
   *
   * @throws IllegalArgumentException if one can not be used
   */
  void check() {
    atLeastOne("--requests", requests);
    atLeastOne("--engines", engines);
    atLeastOne("--gpu-blocks", gpuBlocks);
    if (hostBlocks < 0) {
      throw new IllegalArgumentException("--host-blocks must be 0 or more, got " + hostBlocks);
    }
    if (!(speed > 0)) { // nor not-a-number
      throw new IllegalArgumentException("--speed must be more than 0, got " + speed);
    }
    if (trace != null && !Files.isReadable(trace)) {
      throw new IllegalArgumentException("--trace: there is no readable file " + trace);
    }
  }

  private static void atLeastOne(String option, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(option + " must be 1 or more, got " + value);
    }
  }
}
