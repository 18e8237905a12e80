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
 * K space engineHash                  content: what an engine's hash means
 * B ownerId engineHash group          residency: copies and lookup key
 * U space childHash ownerId group     orphan: a resident block whose prefix is not known yet
 * X 0                                 cut: records were gone before they could be read
 * X 1                                 place: up to where nothing more comes of the log
 * </pre>
 *
 * A removal reads one {@code B} row; the index is rebuilt from {@code T}, {@code P}, {@code O} and
 * {@code B} alone.
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
  public static final byte CONTENT = 'K';
  public static final byte BLOCK = 'B';
  public static final byte ORPHAN = 'U';
  public static final byte LOG = 'X';

  /**
   * Whether rows of a kind say how far a table is: whoever sees them relies on all that was written
   * before.
   */
  public static boolean isPlace(byte kind) {
    return kind == STREAM || kind == HELD || kind == LOG;
  }

  /** Of rows as a whole: to be raised where rows of before can not be gone on with. */
  public static final int LAYOUT_VERSION = 1;

  private RowKind() {}
}
