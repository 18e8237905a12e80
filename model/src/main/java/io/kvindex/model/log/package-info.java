// SPDX-License-Identifier: Apache-2.0
/** What all parts of kvindex keep to where they log. */
@NullMarked
package io.kvindex.model.log;

import org.jspecify.annotations.NullMarked;
