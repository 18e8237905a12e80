// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

import org.apache.kafka.streams.query.Query;

/** Asks a prefix table for its read view, on an active task or a standby. */
public final class ReadViewQuery implements Query<PartitionView> {}
