// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

/**
 * First byte of a row's key: what the row is. Ids are 4 bytes and hashes 8 bytes big-endian, so
 * that rows of one owner or space lie together.
 *
 * <pre>
 * T tableRef                          table identity
 * N space                             table, namespace and, where publishers disagree, publisher
 * C space contextHash                 adapter, namespace and salt behind a context hash
 * L tableRef loraId instance          name of an adapter known by its number (beyond 32 bits: -1 and 8 bytes)
 * P publisherRef                      publisher: identity, life, clears, attention groups
 * O ownerId                           owner: whose cache on which medium in which life
 * S streamRef                         stream: position, health
 * H streamRef event_id part           record held back until its predecessor arrives
 * U ownerId engineHash group          orphan: a resident block whose prefix is not known yet
 * X 0                                 cut: records were gone before they could be read
 * X 1                                 the highest number an owner ever had
 * </pre>
 */
public final class RowKind {
  public static final byte TABLE = 'T';
  public static final byte SPACE = 'N';
  public static final byte CONTEXT = 'C';
  public static final byte LORA = 'L';
  public static final byte PUBLISHER = 'P';
  public static final byte OWNER = 'O';
  public static final byte STREAM = 'S';
  public static final byte HELD = 'H';
  public static final byte ORPHAN = 'U';
  public static final byte LOG = 'X';

  /** Of rows as a whole: to be raised where rows of before can not be gone on with. */
  public static final int LAYOUT_VERSION = 2;

  private RowKind() {}
}
