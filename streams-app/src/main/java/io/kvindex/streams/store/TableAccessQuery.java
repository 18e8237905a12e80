// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import org.apache.kafka.streams.query.Query;

/**
 * How the processor of a task reaches the in-memory side of its own store, through the public query
 * interface: Kafka hands it a decorated store it can not be cast out of. Only for the thread that
 * owns the task.
 */
public final class TableAccessQuery implements Query<OwnTable> {}
