@NullMarked
package io.kvindex.benchmarks.load;

import org.jspecify.annotations.NullMarked;
