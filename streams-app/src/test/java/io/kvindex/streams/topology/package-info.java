/** Tests of the whole topology. */
@NullMarked
package io.kvindex.streams.topology;

import org.jspecify.annotations.NullMarked;
