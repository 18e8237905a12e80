// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.ContentRow;
import org.jspecify.annotations.Nullable;

/**
 * How far a stored event has been followed: the prefix before its next block.
 *
 * @param known whether it is known at all
 * @param content the block before, null at the start of a prompt
 * @param context context at the start of a prompt; below a block its own holds
 * @param engineHash the engine's name of the block before, 0 = none named
 * @param named whether the block before has a name
 */
record Prefix(
    boolean known, @Nullable ContentRow content, long context, long engineHash, boolean named) {

  static Prefix root(long context) {
    return new Prefix(true, null, context, 0, false);
  }

  static Prefix after(long engineHash, @Nullable ContentRow content) {
    return new Prefix(content != null, content, 0, engineHash, true);
  }

  static Prefix unknown() {
    return new Prefix(false, null, 0, 0, false);
  }

  /**
   * What the block after this prefix means.
   *
   * @param byDevice whether its event is believed in all, see {@link ContentRow#byDevice}
   */
  ContentRow next(PrefixHasher hasher, long local, long extra, boolean byDevice) {
    ContentRow before = content;
    long outer = before == null ? context : before.context();
    long inner = io.kvindex.model.hash.ContextHash.withExtra(outer, extra);
    return before == null
        ? new ContentRow(inner, hasher.first(local), local, 0, 0, byDevice)
        : new ContentRow(
            inner,
            hasher.next(before.seqHash(), local),
            local,
            engineHash,
            before.depth() + 1,
            byDevice);
  }
}
