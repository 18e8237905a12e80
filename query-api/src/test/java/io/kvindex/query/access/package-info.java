@NullUnmarked
package io.kvindex.query.access;

import org.jspecify.annotations.NullUnmarked;
