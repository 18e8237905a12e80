// SPDX-License-Identifier: Apache-2.0
/** Whose API a request speaks. */
@NullMarked
package io.kvindex.query.dialect;

import org.jspecify.annotations.NullMarked;
