// SPDX-License-Identifier: Apache-2.0
/** Names and meters of the HTTP side. */
@NullMarked
package io.kvindex.query.metrics;

import org.jspecify.annotations.NullMarked;
