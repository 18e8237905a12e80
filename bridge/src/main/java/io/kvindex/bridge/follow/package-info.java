/** Follows publishers: joining by replay, order, gaps. All of it on the I/O thread. */
@NullMarked
package io.kvindex.bridge.follow;

import org.jspecify.annotations.NullMarked;
