// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.streams.view.PartitionView;
import org.apache.kafka.streams.query.Query;

/**
 * Asks a table for its read view by Interactive Queries, for who has Kafka Streams and nothing
 * else. The view outlives the task it was asked of, so who answers queries here asks {@link
 * TableSlot#view}.
 */
public record TableViewQuery() implements Query<PartitionView> {}
