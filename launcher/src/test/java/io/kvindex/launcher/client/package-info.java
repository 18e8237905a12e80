/** Clients against servers that are stand-ins. */
@NullMarked
package io.kvindex.launcher.client;

import org.jspecify.annotations.NullMarked;
