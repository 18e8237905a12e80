/**
 * The demo: a real trace routed over simulated engines, with kvindex, without it, and by an oracle.
 */
@NullMarked
package io.kvindex.launcher.demo;

import org.jspecify.annotations.NullMarked;
