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
 */
public record CheckpointState(Folded folded, Duration age, boolean failing, boolean stopped) {}
