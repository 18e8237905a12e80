// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

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
    @Nullable Path trace, int requests, int engines, double speed, int gpuBlocks, int hostBlocks) {}
