// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

/**
 * A resident block whose prefix is not known: row {@code U}.
 *
 * @param space where its meaning is waited for
 * @param hash its engine hash
 * @param ownerId who holds it
 * @param group attention group
 * @param order orphans wait, and are linked, in ascending order of it
 * @param copies how often it is surely there, at least 1
 * @param undecided how many more copies there may be
 * @param awaited engine hash of its parent, or its own where no parent was named
 * @param hasLocal whether {@code local} was told
 * @param local hash of the block's own tokens
 * @param extra hash of what else its content depends on, 0 = nothing
 */
public record Orphan(
    int space,
    long hash,
    int ownerId,
    int group,
    long order,
    int copies,
    int undecided,
    long awaited,
    boolean hasLocal,
    long local,
    long extra) {

  /** The same with another number of copies. */
  public Orphan withCopies(int certain, int perhaps) {
    return new Orphan(
        space, hash, ownerId, group, order, certain, perhaps, awaited, hasLocal, local, extra);
  }
}
