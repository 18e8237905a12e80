// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.index.Holder;
import io.kvindex.streams.index.Owner;

/**
 * {@code O}: whose cache on which medium in which life. Its row is deleted once a dead owner's
 * blocks are. Belongs to the writer.
 *
 * @param tableRef table of its blocks
 * @param publisher who announced them
 * @param holder what the blocks know of it. Dead are those fenced, cleared, retired or expired:
 *     their blocks count no more and are being deleted
 * @param expiresAtMs time of the log from which its blocks count no more, {@link #NEVER} = none
 */
public record OwnerState(int tableRef, Publisher publisher, Holder holder, long expiresAtMs) {

  /** Time of owners whose blocks count until they are removed. */
  public static final long NEVER = 0;

  /** Its number in rows. */
  public int id() {
    return holder.id();
  }

  /** Who it is, and where the blocks are. */
  public Owner owner() {
    return holder.owner();
  }
}
