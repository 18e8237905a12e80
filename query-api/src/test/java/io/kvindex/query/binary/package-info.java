@NullMarked
package io.kvindex.query.binary;

import org.jspecify.annotations.NullMarked;
