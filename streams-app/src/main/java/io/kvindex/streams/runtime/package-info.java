/**
 * The Kafka Streams side of a copy. A table belongs to the process, not to a task: tasks are made
 * and closed as the group sees fit, and each goes on with the table that is there.
 *
 * <p>{@link io.kvindex.streams.runtime.ProcessTables} keeps the tables and has them loaded by
 * threads of its own. {@code TableStore} lends one to a task, {@code FoldProcessor} reads the log
 * on from where that table is and judges whether the log still is the one it was folded from;
 * {@code LogWatch} asks Kafka for what no record tells. {@link
 * io.kvindex.streams.runtime.TableTopology} puts them together.
 */
@NullMarked
package io.kvindex.streams.runtime;

import org.jspecify.annotations.NullMarked;
