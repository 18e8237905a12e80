// SPDX-License-Identifier: Apache-2.0
/** Keys of a store's objects: which block of which model an object holds, and which part of it. */
@NullMarked
package io.kvindex.bridge.keys;

import org.jspecify.annotations.NullMarked;
