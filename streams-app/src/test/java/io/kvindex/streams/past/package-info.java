@NullMarked
package io.kvindex.streams.past;

import org.jspecify.annotations.NullMarked;
