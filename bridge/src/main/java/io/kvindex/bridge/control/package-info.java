/** Which publishers to follow: registrations, lives and progress in Kafka. One control thread. */
@NullMarked
package io.kvindex.bridge.control;

import org.jspecify.annotations.NullMarked;
