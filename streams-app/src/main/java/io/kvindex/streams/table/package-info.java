// SPDX-License-Identifier: Apache-2.0
/**
 * What a partition keeps in memory beside its rows: dictionaries, stream positions, orphans and the
 * prefix index. Always a fold of the rows, so that it is the same after a restart, on a standby and
 * on the active task.
 */
@NullMarked
package io.kvindex.streams.table;

import org.jspecify.annotations.NullMarked;
