// SPDX-License-Identifier: Apache-2.0
/** From a query's tokens or hashes, and the names it gives, to a walk through a table. */
@NullMarked
package io.kvindex.query.prompt;

import org.jspecify.annotations.NullMarked;
