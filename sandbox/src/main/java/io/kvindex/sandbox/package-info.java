// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.sandbox;

import org.jspecify.annotations.NullMarked;
