@NullMarked
package io.kvindex.streams.index;

import org.jspecify.annotations.NullMarked;
