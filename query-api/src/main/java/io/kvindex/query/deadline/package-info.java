/** When an answer is of no use any more. */
@NullMarked
package io.kvindex.query.deadline;

import org.jspecify.annotations.NullMarked;
