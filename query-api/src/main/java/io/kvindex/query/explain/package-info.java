/** {@code POST /explain}: why a query is answered the way it is. */
@NullMarked
package io.kvindex.query.explain;

import org.jspecify.annotations.NullMarked;
