// SPDX-License-Identifier: Apache-2.0
/** What goes wrong between engines and us, on purpose. */
@NullMarked
package io.kvindex.sandbox.chaos;

import org.jspecify.annotations.NullMarked;
