// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.hash.ContextHash;
import io.kvindex.streams.index.Blocks;

/**
 * What an engine hash means, or that it is not known. Used again and again: nothing is allocated.
 */
final class Meaning {

  private boolean known;
  private long context;
  private long seqHash;
  private long local;
  private long parent;
  private int depth;
  private boolean byDevice;

  /** Nobody has said so. */
  void unknown() {
    known = false;
  }

  /**
   * It is this.
   *
   * @param folded adapter, namespace, salt and images, see {@link ContextHash}
   * @param prefix hash of the whole prefix up to and including the block
   * @param own hash of the block's own tokens, 0 where never told
   * @param before engine hash of the block before, 0 for the first
   * @param blocksBefore how many
   * @param surely whether an event of the device tier said so, or the name itself does. What only
   *     lower tiers say may lack salt, adapter and parent
   */
  void is(long folded, long prefix, long own, long before, int blocksBefore, boolean surely) {
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
    known = other.known;
    context = other.context;
    seqHash = other.seqHash;
    local = other.local;
    parent = other.parent;
    depth = other.depth;
    byDevice = other.byDevice;
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

  /**
   * That of the block behind another.
   *
   * @param before null or unknown = it is the first
   * @param outer context of the block before, or of a prompt's start
   */
  void follows(
      Meaning before,
      boolean first,
      long beforeName,
      long outer,
      PrefixHasher hasher,
      long own,
      long extra,
      boolean surely) {
    long inner = ContextHash.withExtra(first ? outer : before.context, extra);
    if (first) {
      is(inner, hasher.first(own), own, 0, 0, surely);
    } else {
      is(inner, hasher.next(before.seqHash, own), own, beforeName, before.depth + 1, surely);
    }
  }

  /** Teaches it under a name; false = there are too many contexts. */
  boolean teach(Blocks blocks, int space, long hash) {
    return blocks.teach(space, hash, key(), context, depth, local, parent, byDevice);
  }

  boolean isKnown() {
    return known;
  }

  long context() {
    return context;
  }

  long seqHash() {
    return seqHash;
  }

  long local() {
    return local;
  }

  boolean byDevice() {
    return byDevice;
  }

  /** Key of the block in the index. */
  long key() {
    return seqHash ^ context;
  }

  /** Whether both name the same prefix in the same context. */
  boolean isSameAs(Meaning other) {
    return seqHash == other.seqHash && context == other.context;
  }
}
