/**
 * The drill: a local cluster under load whose processes are killed one after the other, judged by
 * what a router sees.
 */
@NullMarked
package io.kvindex.testing.drill;

import org.jspecify.annotations.NullMarked;
