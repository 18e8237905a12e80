@NullMarked
package io.kvindex.streams.checkpoint;

import org.jspecify.annotations.NullMarked;
