// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.ContextRow;
import org.jspecify.annotations.Nullable;

/**
 * What the blocks of a stored event mean where their names are prefix hashes already: neither
 * tokens nor parents have to be known, so such a block is never an orphan. One event, in order.
 *
 * <p>What the name covers (adapter and salt for vLLM, the salt for SGLang) is not in the lookup key
 * beside it, so that a store that states neither still has the right one. What it does not cover
 * is, as the event states it.
 */
final class EngineNames {

  private final HashProfile profile;
  private final boolean believesKnown;
  private long context;
  private long parent;

  private EngineNames(HashProfile profile, Stored event, long context, boolean believesKnown) {
    this.profile = profile;
    this.context = context;
    this.believesKnown = believesKnown;
    parent = event.parent().hash();
  }

  /**
   * Null where the names are no prefix hashes. They are by the table's rule, or because publishers
   * of the standard envelope send the table's own prefix hashes, with the whole context each time;
   * where theirs are not, the bridge has found that out and kept what the tokens say.
   *
   * @param context of the event as stated, for the lookup key
   */
  static @Nullable EngineNames of(EventRecord record, Stored event, long context) {
    HashProfile profile = record.table().hashProfile();
    boolean standard = record.type() == SourceType.KV_EVENTS && event.localHashes().isEmpty();
    if (!standard && !profile.algorithm().isEngineNamed()) {
      return null;
    }
    boolean tierChange = event.parent().kind() == Parent.Kind.UNKNOWN;
    boolean silent = tierChange && !standard && !profile.algorithm().coversLora();
    return new EngineNames(profile, event, context, silent);
  }

  /**
   * Whether the event only moves blocks between tiers and so does not say whose adapter's they are:
   * then what was known of them before counts.
   */
  boolean believesKnown() {
    return believesKnown;
  }

  /** The names that are in the lookup key. */
  static ContextRow context(HashProfile profile, StatedContext stated) {
    return new ContextRow(
        profile.algorithm().coversLora() ? null : stated.loraName(),
        stated.namespace(),
        profile.algorithm().coversSalt() ? null : stated.salt());
  }

  /**
   * Meaning of the next block.
   *
   * @param known what its name was known to mean, null = nothing or not to be believed
   */
  ContentRow next(long hash, long local, long extra, @Nullable ContentRow known) {
    if (!profile.algorithm().coversExtraKeys()) {
      context = ContextHash.withExtra(context, extra);
    }
    ContentRow row =
        known != null && known.seqHash() == hash
            ? known
            : new ContentRow(context, hash, local, parent, 0);
    parent = hash;
    return row;
  }
}
