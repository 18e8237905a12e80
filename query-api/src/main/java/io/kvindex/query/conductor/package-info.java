// SPDX-License-Identifier: Apache-2.0
/** The conductor dialect of {@code /query}: from a parsed query to its JSON answer. */
@NullMarked
package io.kvindex.query.conductor;

import org.jspecify.annotations.NullMarked;
