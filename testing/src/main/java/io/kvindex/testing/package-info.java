// SPDX-License-Identifier: Apache-2.0
/** What breaks the program on purpose; never shipped. */
@NullMarked
package io.kvindex.testing;

import org.jspecify.annotations.NullMarked;
