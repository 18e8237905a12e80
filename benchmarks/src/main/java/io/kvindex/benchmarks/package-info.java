// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.benchmarks;

import org.jspecify.annotations.NullMarked;
