// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.examples.snippets;

import org.jspecify.annotations.NullMarked;
