/** Tests of what judges in a drill. */
@NullMarked
package io.kvindex.launcher.drill;

import org.jspecify.annotations.NullMarked;
