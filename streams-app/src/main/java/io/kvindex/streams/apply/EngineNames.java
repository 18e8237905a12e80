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
   * {@link #orTaught}.
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
   * @param heldKey lookup key under which the publisher holds it already, null = as stated
   */
  ContentRow next(long hash, long extra, @Nullable Long heldKey) {
    if (!profile.algorithm().coversExtraKeys()) {
      context = ContextHash.withExtra(context, extra);
    }
    long before = parent;
    parent = hash;
    return new ContentRow(heldKey == null ? context : heldKey ^ hash, hash, 0, before, 0, true);
  }

  /**
   * What counts where a publisher sends no tokens for once: if tokens have taught what the name
   * means, and it is not itself, then it is no prefix hash. Where names do not cover the adapter,
   * another publisher's may be of another one: then only what this publisher holds under the name
   * counts.
   *
   * @param said the next block's meaning by its name
   * @param known what the hash meant so far, null = nothing
   * @param heldKey lookup key under which the publisher holds it already, null = none
   */
  ContentRow orTaught(
      long hash, ContentRow said, @Nullable ContentRow known, @Nullable Long heldKey) {
    if (known == null || known.seqHash() == hash) {
      return said;
    }
    boolean heldSo = heldKey != null && heldKey == known.lookupKey();
    return standard || profile.algorithm().coversLora() || heldSo ? known : said;
  }
}
