// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the bodies of {@code /query} and {@code /query_by_hash} on the hot path: a scanner that
 * reads eight digits at a time and knows only well-behaved bodies, and a Jackson reader that takes
 * everything else and owns every error message.
 */
@NullMarked
package io.kvindex.query.parse;

import org.jspecify.annotations.NullMarked;
