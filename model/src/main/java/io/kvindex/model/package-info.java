// SPDX-License-Identifier: Apache-2.0
/** Identities: who publishes, which table it feeds, which life of it speaks. */
@NullMarked
package io.kvindex.model;

import org.jspecify.annotations.NullMarked;
