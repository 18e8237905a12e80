/** Follows publishers: joining by replay, order, gaps. Each on the thread of its loop. */
@NullMarked
package io.kvindex.bridge.follow;

import org.jspecify.annotations.NullMarked;
