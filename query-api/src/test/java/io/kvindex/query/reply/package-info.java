/** Tests of how answers are written. */
@NullMarked
package io.kvindex.query.reply;

import org.jspecify.annotations.NullMarked;
