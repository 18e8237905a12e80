// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import java.io.IOException;

/** Told how far the loading of a table has come, or the copying of its checkpoint. */
@FunctionalInterface
public interface Progress {

  /** For who does not want to know. */
  Progress NONE = (done, of) -> {};

  /**
   * So many names are there, or bytes, of so many. Called every few hundred.
   *
   * @throws IOException if it should not go on
   */
  void at(long done, long of) throws IOException;
}
