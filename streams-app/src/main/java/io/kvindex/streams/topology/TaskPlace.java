// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

/** Has the stream thread that calls it read a partition on where the task's rows are. */
public interface TaskPlace {

  /** Nothing was read yet. */
  Start ANYWHERE = new Start(LogHoles.UNKNOWN, LogHoles.UNKNOWN);

  /**
   * Where a task begins to read.
   *
   * @param first offset of the first record, -1 = the first there is
   * @param lacking offset of the first record the rows have nothing of: if it is not there any
   *     more, something is lost; -1 = nothing is known to be
   */
  record Start(long first, long lacking) {

    /** It is read on from where the rows end. */
    public static Start at(long offset) {
      return new Start(offset, offset);
    }
  }

  /**
   * To be called before the task takes its first record.
   *
   * @param applied offset of the newest record the rows have something of, -1 = none
   */
  Start begin(int partition, long applied);
}
