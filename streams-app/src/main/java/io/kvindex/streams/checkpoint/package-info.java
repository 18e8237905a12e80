/**
 * What a partition's table comes to on disk: {@link io.kvindex.streams.checkpoint.Checkpoint} has
 * its rows in RocksDB, {@link io.kvindex.streams.checkpoint.CheckpointThread} writes them behind
 * the fold. The memory is the table; this is what the next start begins with.
 */
@NullMarked
package io.kvindex.streams.checkpoint;

import org.jspecify.annotations.NullMarked;
