// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.hash.HashProfile;
import org.jspecify.annotations.Nullable;

/**
 * Whether names of blocks are prefix hashes already: neither tokens nor parents have to be known
 * then, so such a block is never an orphan.
 *
 * <p>What the name covers (adapter and salt for vLLM, the salt for SGLang) is not in the lookup key
 * beside it, so that a store that states neither still has the right one. What it does not cover
 * is, as the event states it.
 */
final class EngineNames {

  private EngineNames() {}

  private static HashProfile.Algorithm algorithm(EventRecord record) {
    return record.table().hashProfile().algorithm();
  }

  private static boolean isStandard(EventRecord record) {
    return record.type() == SourceType.KV_EVENTS;
  }

  /**
   * Whether those of an event are. They are by the table's rule, or because publishers of the
   * standard envelope send the table's own prefix hashes, with the whole context each time; where
   * they are not after all, the bridge has found that out and kept what the tokens say, see {@link
   * #isTaught}.
   */
  static boolean mean(EventRecord record, Stored event) {
    return (isStandard(record) || algorithm(record).isEngineNamed())
        && event.localHashes().isEmpty();
  }

  /**
   * Whether events of the record that name no parent may only move blocks between tiers and so not
   * say whose adapter's they are. Then counts what the publisher holds already; what others say of
   * the same name does not, it may be another adapter's there.
   */
  static boolean mayMove(EventRecord record) {
    return !isStandard(record)
        && algorithm(record).isEngineNamed()
        && !algorithm(record).coversLora();
  }

  /**
   * Whether what tokens have taught counts where a publisher sends none for once: if the name means
   * something else than itself, it is no prefix hash. Where names do not cover the adapter, another
   * publisher's may be of another one: then only what this publisher holds under the name counts.
   *
   * @param said what the hash meant so far
   * @param heldKey lookup key under which the publisher holds it already, null = it does not
   */
  static boolean isTaught(EventRecord record, long hash, Meaning said, @Nullable Long heldKey) {
    if (!said.known || said.seqHash == hash) {
      return false;
    }
    return isStandard(record)
        || algorithm(record).coversLora()
        || heldKey != null && heldKey == said.key();
  }
}
