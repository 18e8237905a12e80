// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

/** Told how far the loading of a table has come. */
@FunctionalInterface
public interface Progress {

  /** For who does not want to know. */
  Progress NONE = (names, of) -> {};

  /** So many names are there, of so many. Called every few thousand. */
  void loaded(long names, long of);
}
