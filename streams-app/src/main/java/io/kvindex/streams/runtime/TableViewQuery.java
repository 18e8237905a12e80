// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import org.apache.kafka.streams.query.Query;

/**
 * Asks a table for its read view, which outlives the task it was asked of.
 *
 * @param <V> the read view
 */
public record TableViewQuery<V>() implements Query<V> {}
