@NullMarked
package io.kvindex.streams.runtime;

import org.jspecify.annotations.NullMarked;
