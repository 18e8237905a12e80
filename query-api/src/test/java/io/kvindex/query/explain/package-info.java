@NullMarked
package io.kvindex.query.explain;

import org.jspecify.annotations.NullMarked;
