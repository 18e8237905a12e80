@NullUnmarked
package io.kvindex.query.dynamo;

import org.jspecify.annotations.NullUnmarked;
