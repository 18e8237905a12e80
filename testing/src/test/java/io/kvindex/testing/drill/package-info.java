/** Tests of what judges in a drill. */
@NullMarked
package io.kvindex.testing.drill;

import org.jspecify.annotations.NullMarked;
