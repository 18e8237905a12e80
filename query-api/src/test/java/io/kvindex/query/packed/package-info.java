/** MessagePack as tests write and read it, with a library that is none of ours. */
@NullMarked
package io.kvindex.query.packed;

import org.jspecify.annotations.NullMarked;
