/** History replayed, asked and compared: {@code kvindex diff}, {@code replay}, {@code query-at}. */
@NullMarked
package io.kvindex.launcher.rewind;

import org.jspecify.annotations.NullMarked;
