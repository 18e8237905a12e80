/**
 * The in-memory prefix index of one table: lookup key to interned owner set, one writer, any number
 * of lock-free readers.
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
