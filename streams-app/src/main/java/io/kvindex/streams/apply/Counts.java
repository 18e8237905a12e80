// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

/** Takes counts. Called by stream threads. */
@FunctionalInterface
public interface Counts {
  /** Adds {@code n} to a counter. */
  void add(Outcome outcome, long n);

  /** Adds one. */
  default void add(Outcome outcome) {
    add(outcome, 1);
  }
}
