@NullMarked
package io.kvindex.query.match;

import org.jspecify.annotations.NullMarked;
