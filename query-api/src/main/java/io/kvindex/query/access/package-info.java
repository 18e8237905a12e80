/** The access log: one line a request, written beside the requests' way. */
@NullMarked
package io.kvindex.query.access;

import org.jspecify.annotations.NullMarked;
