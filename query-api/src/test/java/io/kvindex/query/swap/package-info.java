// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.query.swap;

import org.jspecify.annotations.NullMarked;
