@NullMarked
package io.kvindex.query.contract;

import org.jspecify.annotations.NullMarked;
