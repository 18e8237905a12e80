// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.streams;

import org.jspecify.annotations.NullMarked;
