// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

/**
 * Records of a partition that are gone though the application has not read them.
 *
 * @param from offset of the first of them: what the application has committed
 * @param to offset of the first record that is left
 */
public record Hole(long from, long to) {}
