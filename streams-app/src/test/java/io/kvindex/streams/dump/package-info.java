/** Dumps of tables. */
@NullMarked
package io.kvindex.streams.dump;

import org.jspecify.annotations.NullMarked;
