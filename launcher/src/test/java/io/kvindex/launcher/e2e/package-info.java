/** Guarantees of the whole product, from ZMQ sockets to HTTP answers. */
@NullMarked
package io.kvindex.launcher.e2e;

import org.jspecify.annotations.NullMarked;
