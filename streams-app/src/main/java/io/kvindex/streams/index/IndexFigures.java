// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

/**
 * Size of one table's index. Each figure is read by itself, so they may be a few updates apart.
 *
 * @param blocks distinct lookup keys
 * @param owners live owners
 * @param sets distinct owner sets in use
 * @param waitingSets sets kept only because a reader may still hold them
 * @param bytes estimated heap, in bytes
 */
public record IndexFigures(long blocks, long owners, long sets, long waitingSets, long bytes) {}
