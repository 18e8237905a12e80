/** Thin command-line clients of the HTTP API, for people. */
@NullMarked
package io.kvindex.launcher.client;

import org.jspecify.annotations.NullMarked;
