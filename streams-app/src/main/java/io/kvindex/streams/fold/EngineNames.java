// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
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

  private final HashProfile.Algorithm algorithm;
  private final boolean standard;
  private final boolean mayMove;
  private long context;
  private long parent;

  private EngineNames(EventRecord record, Stored event, long context) {
    algorithm = record.table().hashProfile().algorithm();
    standard = record.type() == SourceType.KV_EVENTS;
    mayMove = mayMove(record) && event.parent().kind() == Parent.Kind.UNKNOWN;
    this.context = context;
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
    boolean named =
        record.type() == SourceType.KV_EVENTS
            || record.table().hashProfile().algorithm().isEngineNamed();
    return named && event.localHashes().isEmpty() ? new EngineNames(record, event, context) : null;
  }

  /**
   * Whether events of the record may only move blocks between tiers and so not say whose adapter's
   * they are.
   */
  static boolean mayMove(EventRecord record) {
    HashProfile.Algorithm algorithm = record.table().hashProfile().algorithm();
    return record.type() != SourceType.KV_EVENTS
        && algorithm.isEngineNamed()
        && !algorithm.coversLora();
  }

  /**
   * Whether this event may. Then counts what the publisher holds already; what others say of the
   * same name does not, it may be another adapter's there.
   */
  boolean mayMove() {
    return mayMove;
  }

  /**
   * Finds the meaning of the next block.
   *
   * @param heldKey lookup key under which the publisher holds it already, null = it does not
   * @param said what the hash meant so far
   */
  void next(long hash, long extra, @Nullable Long heldKey, Meaning said, Meaning meaning) {
    if (!algorithm.coversExtraKeys()) {
      context = ContextHash.withExtra(context, extra);
    }
    if (isTaught(hash, said, heldKey)) {
      meaning.is(said);
    } else {
      meaning.isNamed(heldKey == null ? context : heldKey ^ hash, hash, parent);
    }
    parent = hash;
  }

  /**
   * Whether what tokens have taught counts where a publisher sends none for once: if the name means
   * something else than itself, it is no prefix hash. Where names do not cover the adapter, another
   * publisher's may be of another one: then only what this publisher holds under the name counts.
   */
  private boolean isTaught(long hash, Meaning said, @Nullable Long heldKey) {
    if (!said.known || said.seqHash == hash) {
      return false;
    }
    return standard || algorithm.coversLora() || heldKey != null && heldKey == said.key();
  }
}
