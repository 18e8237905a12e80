// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import java.time.Duration;

/**
 * How the checkpoint of a partition stands.
 *
 * @param folded what is on the disk is the fold of
 * @param age since it was found or written; says nothing of how much was folded since
 * @param failing whether the last try to write failed
 * @param stopped whether nothing is written any more, as more was folded than could be kept for a
 *     disk that fails: the next start goes on from {@link #folded} if the log still has what
 *     follows, else it has to borrow
 * @param checkpoints written since the start
 * @param changes of names that came to {@code rows}
 * @param rows written
 * @param writing how long all of it took
 * @param waited how long the fold has waited for the disk
 * @param failures tries that failed
 */
public record CheckpointState(
    Folded folded,
    Duration age,
    boolean failing,
    boolean stopped,
    long checkpoints,
    long changes,
    long rows,
    Duration writing,
    Duration waited,
    long failures) {

  /** How this one stands, with what both have counted. */
  public CheckpointState after(CheckpointState former) {
    return new CheckpointState(
        folded,
        age,
        failing,
        stopped,
        checkpoints + former.checkpoints,
        changes + former.changes,
        rows + former.rows,
        writing.plus(former.writing),
        waited.plus(former.waited),
        failures + former.failures);
  }
}
