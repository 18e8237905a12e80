// SPDX-License-Identifier: Apache-2.0
/**
 * Rows of the prefix table beside the names: the keys, and the bytes of each kind of value, as
 * checkpoints have them; see {@link io.kvindex.streams.row.RowKind}.
 */
@NullMarked
package io.kvindex.streams.row;

import org.jspecify.annotations.NullMarked;
