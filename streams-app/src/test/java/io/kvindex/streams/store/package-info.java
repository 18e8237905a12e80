/** Tests of restarts and restores. */
@NullMarked
package io.kvindex.streams.store;

import org.jspecify.annotations.NullMarked;
