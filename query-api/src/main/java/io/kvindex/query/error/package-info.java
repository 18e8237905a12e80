// SPDX-License-Identifier: Apache-2.0
/** The catalogue of refusals every route answers with. */
@NullMarked
package io.kvindex.query.error;

import org.jspecify.annotations.NullMarked;
