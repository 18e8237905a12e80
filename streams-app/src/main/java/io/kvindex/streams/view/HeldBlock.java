// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

/**
 * One residency row of an owner.
 *
 * @param engineHash the engine's name for the block
 * @param group attention group
 * @param copies how often it was announced and not removed; of repetitions that prove no second
 *     copy it may be held less often
 * @param resolved whether its prefix is known, so that queries may find it
 * @param lookupKey its key in the index, 0 unless {@code resolved}
 */
public record HeldBlock(long engineHash, int group, int copies, boolean resolved, long lookupKey) {}
