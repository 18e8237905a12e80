/** What the bridge counts. */
@NullMarked
package io.kvindex.bridge.metrics;

import org.jspecify.annotations.NullMarked;
