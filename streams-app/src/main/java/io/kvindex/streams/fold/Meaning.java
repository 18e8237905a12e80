// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.streams.index.Blocks;

/**
 * What an engine hash means, or that it is not known. Used again and again: nothing is allocated.
 */
final class Meaning {

  private final long[] scratch = new long[2];

  /** Whether anybody has said so; the rest is of no meaning else. */
  boolean known;

  /** Adapter, namespace, salt and images, see {@link ContextHash}. */
  private long context;

  /** Hash of the whole prefix up to and including the block. */
  long seqHash;

  /** Hash of the block's own tokens, 0 where never told. */
  long local;

  /** Engine hash of the block before, 0 for the first. */
  long parent;

  /** Blocks before it. */
  private int depth;

  /**
   * Whether an event of the device tier said so, or the name itself does. What only lower tiers say
   * may lack salt, adapter and parent.
   */
  boolean byDevice;

  /** Nobody has said so. */
  void unknown() {
    known = false;
  }

  private void is(
      long folded, long prefix, long own, long before, int blocksBefore, boolean surely) {
    known = true;
    context = folded;
    seqHash = prefix;
    local = own;
    parent = before;
    depth = blocksBefore;
    byDevice = surely;
  }

  /** The same as another. */
  void is(Meaning other) {
    is(other.context, other.seqHash, other.local, other.parent, other.depth, other.byDevice);
    known = other.known;
  }

  /** That of a name. */
  void lookUp(Blocks blocks, int space, long hash) {
    known = blocks.find(space, hash);
    if (known) {
      context = blocks.context();
      seqHash = blocks.key() ^ context;
      local = blocks.local();
      parent = blocks.parent();
      depth = blocks.depth();
      byDevice = blocks.byDevice();
    }
  }

  /** That of a prompt's first block. */
  void opens(long outer, long own, long extra, boolean surely) {
    is(ContextHash.withExtra(outer, extra), own, own, 0, 0, surely);
  }

  /** That of the block behind another of that name. */
  void follows(Meaning before, long name, SeqHash hash, long own, long extra, boolean surely) {
    long inner = ContextHash.withExtra(before.context, extra);
    is(inner, hash.roll(before.seqHash, own, scratch), own, name, before.depth + 1, surely);
  }

  /** That of a name that is a prefix hash, whichever blocks are before it. */
  void isNamed(long folded, long hash, long before) {
    is(folded, hash, 0, before, 0, true);
  }

  /** Teaches it under a name; false = there are too many contexts. */
  boolean teach(Blocks blocks, int space, long hash) {
    return blocks.teach(space, hash, key(), context, depth, local, parent, byDevice);
  }

  /** Key of the block in the index. */
  long key() {
    return seqHash ^ context;
  }

  /** Whether it counts for a publisher that has, or has not, spoken of its device. */
  boolean isBelieved(boolean device) {
    return known && (byDevice || !device);
  }

  /** Whether both name the same prefix in the same context. */
  boolean isSameAs(Meaning other) {
    return seqHash == other.seqHash && context == other.context;
  }
}
