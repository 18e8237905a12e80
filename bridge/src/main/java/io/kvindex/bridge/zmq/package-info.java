/**
 * Sockets: a handful of threads for all subscriptions, a small pool for replays. Knows no event
 * format.
 */
@NullMarked
package io.kvindex.bridge.zmq;

import org.jspecify.annotations.NullMarked;
