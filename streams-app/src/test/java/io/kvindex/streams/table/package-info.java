/** Tests of the fold of rows. */
@NullMarked
package io.kvindex.streams.table;

import org.jspecify.annotations.NullMarked;
