/** Tests of how the tables are reached. */
@NullMarked
package io.kvindex.query.lookup;

import org.jspecify.annotations.NullMarked;
