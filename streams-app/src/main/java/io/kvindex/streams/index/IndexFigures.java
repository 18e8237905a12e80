// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

/**
 * Size of one table's index. Each figure is read by itself, so they may be a few updates apart.
 *
 * @param blocks distinct lookup keys
 * @param owners live owners
 * @param bytes estimated heap, in bytes
 */
public record IndexFigures(long blocks, long owners, long bytes) {}
