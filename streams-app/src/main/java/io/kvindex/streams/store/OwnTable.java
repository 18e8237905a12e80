// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import io.kvindex.streams.table.PartitionTable;

/**
 * What the active task of a partition has of its store.
 *
 * @param table the in-memory side
 * @param rows to be told of commits
 */
public record OwnTable(PartitionTable table, CommittedRows rows) {}
