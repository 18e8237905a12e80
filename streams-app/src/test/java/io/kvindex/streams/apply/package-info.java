/** Tests of the memory of what hashes mean. */
@NullMarked
package io.kvindex.streams.apply;

import org.jspecify.annotations.NullMarked;
