// SPDX-License-Identifier: Apache-2.0
/**
 * The state store: RocksDB holds the rows, the fold of {@code table} follows each change of them,
 * also those that come from the changelog.
 */
@NullMarked
package io.kvindex.streams.store;

import org.jspecify.annotations.NullMarked;
