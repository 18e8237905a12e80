// SPDX-License-Identifier: Apache-2.0
/**
 * What a partition keeps in memory: dictionaries, stream positions, orphans and the prefix index.
 */
@NullMarked
package io.kvindex.streams.table;

import org.jspecify.annotations.NullMarked;
