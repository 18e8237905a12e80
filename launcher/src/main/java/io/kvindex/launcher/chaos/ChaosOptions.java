// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.chaos;

import java.nio.file.Path;
import java.time.Duration;

/**
 * A run of the chaos suite.
 *
 * @param seed decides the plan, the prompts and which message meets which fault
 * @param time how long things go wrong at least
 * @param directory data and logs of the processes
 * @param shape what is run and what goes wrong
 * @param verbose whether each step is printed as it happens
 */
public record ChaosOptions(long seed, Duration time, Path directory, Shape shape, boolean verbose) {

  /** What is run and what goes wrong. */
  public enum Shape {
    /** Broker, indexer and two bridges; everything goes wrong, at least as often as promised. */
    FULL,
    /**
     * {@code kvindex all}, which stays up: what goes wrong outside of it is enough to need each
     * protection. For tests of the suite.
     */
    REDUCED
  }
}
