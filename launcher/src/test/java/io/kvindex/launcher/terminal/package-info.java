/** Clients against servers that are stand-ins. */
@NullMarked
package io.kvindex.launcher.terminal;

import org.jspecify.annotations.NullMarked;
