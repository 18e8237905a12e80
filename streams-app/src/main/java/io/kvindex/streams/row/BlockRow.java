// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/**
 * {@code B}: an owner holds a block.
 *
 * @param copies how often at least; 0 = perhaps not any more, so it is in no answer
 * @param undecided how many more there may be: announcements of which nobody can tell whether they
 *     spoke of another copy
 * @param space where the block's content row is or is waited for
 * @param resolved whether the prefix is known; false = an orphan, invisible to queries
 * @param lookupKey key in the index, 0 unless {@code resolved}
 */
public record BlockRow(int copies, int undecided, int space, boolean resolved, long lookupKey) {

  /** A block all of whose copies are certain. */
  public BlockRow(int copies, int space, boolean resolved, long lookupKey) {
    this(copies, 0, space, resolved, lookupKey);
  }

  /** A block whose prefix is not known. */
  public static BlockRow unresolved(int copies, int space) {
    return new BlockRow(copies, space, false, 0);
  }

  /** Whether queries find it, as far as this row goes. */
  public boolean isResident() {
    return resolved && copies > 0;
  }

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(32);
    out.writeVarint(copies);
    out.writeVarint((long) space << 1 | (resolved ? 1 : 0));
    if (resolved) {
      out.writeLong(lookupKey);
    }
    if (undecided > 0) {
      out.writeVarint(undecided);
    }
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static BlockRow decode(byte[] value) {
    RecordReader in = RowValue.reader(value);
    int copies = in.readInt();
    long packed = in.readVarint();
    boolean resolved = (packed & 1) != 0;
    long lookupKey = resolved ? in.readLong() : 0;
    int undecided = in.atEnd() ? 0 : in.readInt();
    return new BlockRow(copies, undecided, (int) (packed >>> 1), resolved, lookupKey);
  }
}
