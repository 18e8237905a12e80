// SPDX-License-Identifier: Apache-2.0
/**
 * Rows of the prefix table: the keys, and the bytes of each kind of value. Their layout is what
 * lies on disk and in the changelog topic; see {@link io.kvindex.streams.row.RowKind}.
 */
@NullMarked
package io.kvindex.streams.row;

import org.jspecify.annotations.NullMarked;
