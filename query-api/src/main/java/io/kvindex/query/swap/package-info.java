// SPDX-License-Identifier: Apache-2.0
/** How a replica changes over to another application's table while it answers. */
@NullMarked
package io.kvindex.query.swap;

import org.jspecify.annotations.NullMarked;
