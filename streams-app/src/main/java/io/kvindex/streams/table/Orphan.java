// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.row.OrphanRow;

/** An orphan row with its key: block {@code child} of an owner waits for its prefix. */
public record Orphan(int space, long child, int ownerId, int group, OrphanRow row) {}
