// SPDX-License-Identifier: Apache-2.0
/** What a bridge has durably handed over for each publisher it follows. */
@NullMarked
package io.kvindex.model.progress;

import org.jspecify.annotations.NullMarked;
