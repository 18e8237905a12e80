// SPDX-License-Identifier: Apache-2.0
/** What the records of the log change in a partition's table. */
@NullMarked
package io.kvindex.streams.fold;

import org.jspecify.annotations.NullMarked;
