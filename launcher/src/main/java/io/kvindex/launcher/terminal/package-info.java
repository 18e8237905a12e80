// SPDX-License-Identifier: Apache-2.0
/** What commands show to people who look on, and to nobody else. */
@NullMarked
package io.kvindex.launcher.terminal;

import org.jspecify.annotations.NullMarked;
