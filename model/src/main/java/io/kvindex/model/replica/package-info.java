// SPDX-License-Identifier: Apache-2.0
/** Which replicas there are: what each says of itself in {@code kvindex.replicas}. */
@NullMarked
package io.kvindex.model.replica;

import org.jspecify.annotations.NullMarked;
