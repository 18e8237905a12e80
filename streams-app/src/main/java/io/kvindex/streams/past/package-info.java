/** A table as it was: built from the log alone, beside Kafka Streams, and thrown away. */
@NullMarked
package io.kvindex.streams.past;

import org.jspecify.annotations.NullMarked;
