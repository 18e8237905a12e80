// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import java.nio.file.Path;
import java.time.Duration;

/**
 * A run of the chaos suite.
 *
 * @param seed decides the plan, the prompts and which message meets which fault
 * @param time how long things go wrong at least
 * @param directory data and logs of the processes
 * @param shape what is run and what goes wrong
 * @param oddities what else is odd about some engines
 * @param verbose whether each step is printed as it happens
 */
public record ChaosOptions(
    long seed, Duration time, Path directory, Shape shape, Oddities oddities, boolean verbose) {

  /**
   * What is odd about engines.
   *
   * @param clockJumps whether their clocks are set to other times and units, at restarts and in
   *     between
   * @param fullReports whether there is one that announces reused blocks again, as vLLM does where
   *     a client asks for it: of such a one less may be known than it holds
   */
  public record Oddities(boolean clockJumps, boolean fullReports) {

    /** All of it. */
    public static final Oddities ALL = new Oddities(true, true);

    /** Nothing of it. */
    public static final Oddities NONE = new Oddities(false, false);
  }

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
