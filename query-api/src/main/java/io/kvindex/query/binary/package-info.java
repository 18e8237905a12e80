/** The binary dialect: what today's C++ Mooncake Conductor answers in MessagePack. */
@NullMarked
package io.kvindex.query.binary;

import org.jspecify.annotations.NullMarked;
