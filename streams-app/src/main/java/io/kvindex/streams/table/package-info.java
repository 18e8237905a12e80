// SPDX-License-Identifier: Apache-2.0
/**
 * What a partition keeps beside its blocks: dictionaries, stream positions, orphans, in memory and
 * as rows; and how dumps and digests are read back from the rows, beside the thread that writes.
 */
@NullMarked
package io.kvindex.streams.table;

import org.jspecify.annotations.NullMarked;
