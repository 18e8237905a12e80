/** What each owner holds, in numbers that compare between copies. */
@NullMarked
package io.kvindex.query.digest;

import org.jspecify.annotations.NullMarked;
