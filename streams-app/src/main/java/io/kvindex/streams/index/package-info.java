/**
 * The blocks of a partition in memory, and the index that queries walk.
 *
 * <p>{@link io.kvindex.streams.index.Blocks} knows what engines' hashes mean and who holds them,
 * keeps the index of each table in step, and notes what changed in a {@link
 * io.kvindex.streams.index.Journal}, of which {@link io.kvindex.streams.index.NameChanges} makes a
 * checkpoint's rows, each a {@link io.kvindex.streams.index.NameRow}; {@link
 * io.kvindex.streams.index.Restoring} takes these back at a start.
 *
 * <p>The index of a table: lookup key to interned owner set, one writer, any number of lock-free
 * readers.
 *
 * <p>Write path: {@link io.kvindex.streams.index.PrefixIndex} changes {@code KeyTable} (key to set
 * id) and {@code OwnerSets} (id to immutable bitset). Read path: {@link
 * io.kvindex.streams.index.PrefixReader} walks a prompt's keys and reports only where the set of
 * owners changes. Nothing a reader can still hold is reused: {@link
 * io.kvindex.streams.index.Epochs} tells when.
 */
@NullMarked
package io.kvindex.streams.index;

import org.jspecify.annotations.NullMarked;
