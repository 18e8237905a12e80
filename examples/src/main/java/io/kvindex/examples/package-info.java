// SPDX-License-Identifier: Apache-2.0
/** Programs to try kvindex with and to copy from. */
@NullMarked
package io.kvindex.examples;

import org.jspecify.annotations.NullMarked;
