// SPDX-License-Identifier: Apache-2.0
/** Switches that only tests of the chaos suite use. */
@NullMarked
package io.kvindex.model.chaos;

import org.jspecify.annotations.NullMarked;
