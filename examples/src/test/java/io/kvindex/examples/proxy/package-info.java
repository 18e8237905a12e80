// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.examples.proxy;

import org.jspecify.annotations.NullMarked;
