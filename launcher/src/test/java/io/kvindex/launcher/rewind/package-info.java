@NullMarked
package io.kvindex.launcher.rewind;

import org.jspecify.annotations.NullMarked;
