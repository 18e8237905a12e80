// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
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
  private final boolean standard;
  private final boolean tierChange;
  private long context;
  private long parent;

  private EngineNames(
      HashProfile profile, Stored event, long context, boolean standard, boolean tierChange) {
    this.profile = profile;
    this.standard = standard;
    this.context = context;
    this.tierChange = tierChange;
    parent = event.parent().hash();
  }

  /**
   * Null where the names are no prefix hashes. They are by the table's rule, or because publishers
   * of the standard envelope send the table's own prefix hashes, with the whole context each time;
   * where they are not after all, the bridge has found that out and kept what the tokens say, see
   * {@link #isTaught}.
   *
   * @param context of the event as stated, for the lookup key
   */
  static @Nullable EngineNames of(EventRecord record, Stored event, long context) {
    HashProfile profile = record.table().hashProfile();
    boolean standard = record.type() == SourceType.KV_EVENTS;
    boolean named = standard || profile.algorithm().isEngineNamed();
    if (!named || !event.localHashes().isEmpty()) {
      return null;
    }
    boolean silent =
        event.parent().kind() == Parent.Kind.UNKNOWN
            && !standard
            && !profile.algorithm().coversLora();
    return new EngineNames(profile, event, context, standard, silent);
  }

  /**
   * Whether the event may only move blocks between tiers of the publisher and so not say whose
   * adapter's they are: where it holds one already, that counts. What others say of the same name
   * does not, it may be another adapter's there.
   */
  boolean mayMove() {
    return tierChange;
  }

  /**
   * Whether events of the record may only move blocks between tiers and so not say whose adapter's
   * they are.
   */
  static boolean mayMove(EventRecord record) {
    HashProfile profile = record.table().hashProfile();
    return record.type() != SourceType.KV_EVENTS
        && profile.algorithm().isEngineNamed()
        && !profile.algorithm().coversLora();
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
   * @param held whether the publisher holds it already
   * @param heldKey lookup key under which it does
   */
  void next(long hash, long extra, boolean held, long heldKey, Meaning meaning) {
    if (!profile.algorithm().coversExtraKeys()) {
      context = ContextHash.withExtra(context, extra);
    }
    long before = parent;
    parent = hash;
    meaning.is(held ? heldKey ^ hash : context, hash, 0, before, 0, true);
  }

  /**
   * Whether what tokens have taught counts where a publisher sends none for once: if the name means
   * something else than itself, it is no prefix hash. Where names do not cover the adapter, another
   * publisher's may be of another one: then only what this publisher holds under the name counts.
   *
   * @param known what the hash meant so far
   */
  boolean isTaught(long hash, Meaning known, boolean held, long heldKey) {
    if (!known.isKnown() || known.seqHash() == hash) {
      return false;
    }
    return standard || profile.algorithm().coversLora() || held && heldKey == known.key();
  }
}
