// SPDX-License-Identifier: Apache-2.0
/** What an event changes: the rows of one record are computed here and written as one. */
@NullMarked
package io.kvindex.streams.fold;

import org.jspecify.annotations.NullMarked;
