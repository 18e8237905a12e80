/** From decoded batches to acknowledged Kafka records, in order and bounded. */
@NullMarked
package io.kvindex.bridge.produce;

import org.jspecify.annotations.NullMarked;
