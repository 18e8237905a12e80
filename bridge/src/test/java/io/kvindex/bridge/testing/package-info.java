/** A scriptable publisher and a broker with our topics, for tests. */
@NullMarked
package io.kvindex.bridge.testing;

import org.jspecify.annotations.NullMarked;
