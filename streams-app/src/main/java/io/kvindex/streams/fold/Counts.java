// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

/** Takes counts. Called by stream threads. */
@FunctionalInterface
public interface Counts {
  /** Adds {@code n} to a counter. */
  void add(Outcome outcome, long n);

  /** A record with that many events was taken up: from the log, or found held back at start. */
  default void taken(int events) {}

  /** What became of a record with that many events. */
  default void record(Outcome outcome, int events) {
    add(outcome, events);
  }

  /** Adds one. */
  default void add(Outcome outcome) {
    add(outcome, 1);
  }
}
