/** Tests of the whole topology. */
@NullMarked
package io.kvindex.streams.fold;

import org.jspecify.annotations.NullMarked;
