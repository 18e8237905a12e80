/** A real Kafka broker (KRaft, combined roles) inside this JVM, on a data directory of its own. */
@NullMarked
package io.kvindex.sandbox.broker;

import org.jspecify.annotations.NullMarked;
