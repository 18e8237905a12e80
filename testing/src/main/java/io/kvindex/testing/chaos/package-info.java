/**
 * The chaos suite: everything goes wrong at once, on purpose, and the answers are compared with
 * what the engines hold.
 */
@NullMarked
package io.kvindex.testing.chaos;

import org.jspecify.annotations.NullMarked;
