// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.bridge;

import org.jspecify.annotations.NullMarked;
