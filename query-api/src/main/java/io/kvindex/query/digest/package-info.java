/** What each owner holds, in numbers that compare between replicas and rebuilds. */
@NullMarked
package io.kvindex.query.digest;

import org.jspecify.annotations.NullMarked;
