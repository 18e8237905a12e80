/** The processes of kvindex: broker, bridge, indexer, and all of them in one. */
@NullMarked
package io.kvindex.launcher.process;

import org.jspecify.annotations.NullMarked;
