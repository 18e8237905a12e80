// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a demo run does.
 *
 * @param trace trace file, null = the bundled slice
 * @param requests most requests to replay
 * @param engines engines in each fleet
 * @param speed how much faster than the trace's own time requests are sent
 * @param gpuBlocks blocks of 16 tokens an engine's device holds
 * @param hostBlocks blocks its host tier holds
 */
record DemoOptions(
    @Nullable Path trace, int requests, int engines, double speed, int gpuBlocks, int hostBlocks) {

  DemoOptions {
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
