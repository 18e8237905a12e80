// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/**
 * {@code K}: what an engine hash means. Outlives the block's residency for a while, so that blocks
 * announced without tokens, or with this one as parent, still resolve.
 *
 * @param context folded adapter, namespace and salt, see {@link io.kvindex.model.hash.ContextHash}
 * @param seqHash hash of the whole prefix up to and including this block
 * @param local hash of the block's own tokens, 0 where never told
 * @param parent engine hash of the block before, 0 for the first
 * @param depth blocks before this one
 * @param byDevice whether an event of the device tier said so, or the name itself does. What only
 *     lower tiers say may lack salt, adapter and parent
 */
public record ContentRow(
    long context, long seqHash, long local, long parent, int depth, boolean byDevice) {

  private static final int HAS_CONTEXT = 1;
  private static final int BY_LOWER_TIER = 2;

  /** Key of the block in the index. */
  public long lookupKey() {
    return seqHash ^ context;
  }

  /** Whether both name the same prefix in the same context. */
  public boolean sameMeaning(ContentRow other) {
    return seqHash == other.seqHash && context == other.context;
  }

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(40);
    out.writeByte((context != 0 ? HAS_CONTEXT : 0) | (byDevice ? 0 : BY_LOWER_TIER));
    if (context != 0) {
      out.writeLong(context);
    }
    out.writeLong(seqHash);
    out.writeLong(local);
    out.writeLong(parent);
    out.writeVarint(depth);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static ContentRow decode(byte[] value) {
    RecordReader in = RowValue.reader(value);
    int flags = in.readByte();
    long context = (flags & HAS_CONTEXT) != 0 ? in.readLong() : 0;
    boolean byDevice = (flags & BY_LOWER_TIER) == 0;
    return new ContentRow(
        context, in.readLong(), in.readLong(), in.readLong(), in.readInt(), byDevice);
  }
}
