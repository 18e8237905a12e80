// SPDX-License-Identifier: Apache-2.0
/** How processes that share a group's work notice that one of them is dead. */
@NullMarked
package io.kvindex.model.member;

import org.jspecify.annotations.NullMarked;
