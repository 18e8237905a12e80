/** Dumps and peers. */
@NullMarked
package io.kvindex.query.peer;

import org.jspecify.annotations.NullMarked;
