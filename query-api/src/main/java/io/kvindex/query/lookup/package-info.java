// SPDX-License-Identifier: Apache-2.0
/** What queries need of the index, whoever holds it: the seam to the stream processing. */
@NullMarked
package io.kvindex.query.lookup;

import org.jspecify.annotations.NullMarked;
