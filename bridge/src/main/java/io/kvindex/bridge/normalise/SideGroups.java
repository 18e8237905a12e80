// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.EngineEvent.Stored;
import io.kvindex.model.Media;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells computed prompts of a hybrid model from reused ones by the attention groups that are not
 * indexed. A request reuses a prefix only where each group has what it needs at its end: the last
 * window, or the state. So where such a group stores a prompt's last block that it surely did not
 * have, the prompt was computed, and its blocks of full attention are copies more. To be sure of
 * that takes every announcement since the life began or the cache was emptied.
 *
 * <p>vLLM announces what a request stores, or reuses, group by group without a removal in between,
 * and a reused prefix in all groups with all of its blocks, even those that a window has left
 * behind (0.32, {@code BlockPool.emit_cached_block_events}): only last blocks tell. For one thread.
 */
final class SideGroups {

  /** Blocks remembered; where there are more, nothing is sure until the cache is emptied. */
  private static final int MOST = 65_536;

  private static final BitSet NONE = new BitSet(0);
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  /** Kinds that need the last block of what is reused; chunks of local attention may not. */
  private static final Set<String> NEEDS_LAST = Set.of("sliding_window", "mamba");

  /**
   * Announcements less removals by block and group: as many copies there may be. Kept only while it
   * is {@code complete}.
   */
  private final Map<Long, Integer> copies = new HashMap<>();

  private boolean complete;

  /** Whether there is more than one group. */
  private boolean begun;

  private @Nullable Integer rank;

  /**
   * @param fromStart whether nothing can have been announced before
   */
  SideGroups(boolean fromStart) {
    complete = fromStart;
  }

  /** Something was announced that is not known. */
  void lost() {
    complete = false;
    copies.clear();
  }

  /**
   * Takes a batch in.
   *
   * @param learned what is known of groups
   * @return places in the batch of stores that were computed, as far as these groups tell
   */
  BitSet computed(EngineBatch batch, Learned learned) {
    begun = begun || batch.events().stream().anyMatch(SideGroups::isOfFurtherGroup);
    if (!begun) {
      return NONE;
    }
    noteRank(batch.rank());
    BitSet computed = new BitSet();
    List<EngineEvent> events = batch.events();
    Set<Long> ends = new HashSet<>();
    int from = 0;
    for (int i = 0; i < events.size(); i++) {
      EngineEvent event = events.get(i);
      if (event instanceof Stored stored) {
        if (complete && isOfSide(stored.scope(), learned) && store(stored)) {
          ends.add(last(stored));
        }
        continue;
      }
      note(events, from, i, ends, computed);
      from = i + 1;
      take(event, learned);
    }
    note(events, from, events.size(), ends, computed);
    if (copies.size() > MOST) {
      lost();
    }
    return computed;
  }

  private static boolean isOfFurtherGroup(EngineEvent event) {
    return event instanceof Stored stored && stored.scope().group() > 0;
  }

  /** Several caches are not told apart here. */
  private void noteRank(@Nullable Integer stated) {
    if (rank != null && stated != null && !rank.equals(stated)) {
      lost();
    }
    rank = stated == null ? rank : stated;
  }

  /** Whether its last block was surely not there. */
  private boolean store(Stored stored) {
    if (stored.hashes().isEmpty()) {
      return false;
    }
    boolean absent = needsLast(stored.scope());
    absent &= !copies.containsKey(key(last(stored), stored.scope()));
    for (int i = 0; i < stored.hashes().size(); i++) {
      copies.merge(key(stored.hashes().get(i), stored.scope()), 1, Integer::sum);
    }
    return absent;
  }

  private void take(EngineEvent event, Learned learned) {
    if (event instanceof EngineEvent.Removed removed && isOfSide(removed.scope(), learned)) {
      for (int i = 0; i < removed.hashes().size(); i++) {
        copies.computeIfPresent(
            key(removed.hashes().get(i), removed.scope()),
            (key, count) -> count == 1 ? null : count - 1);
      }
    } else if (event instanceof EngineEvent.Cleared cleared
        && Media.standard().tier(cleared.medium()) == Media.Tier.DEVICE) {
      copies.clear();
      complete = true;
    }
  }

  /** The first store with such an end is of the request that computed it; others reuse that. */
  private static void note(
      List<EngineEvent> events, int from, int to, Set<Long> ends, BitSet computed) {
    for (int i = from; i < to && !ends.isEmpty(); i++) {
      Stored stored = (Stored) events.get(i);
      boolean isWhole = AttentionGroups.isWholePrefix(stored.scope().specKind());
      if (isWhole && !stored.hashes().isEmpty() && ends.remove(last(stored))) {
        computed.set(i);
      }
    }
    ends.clear();
  }

  private static long last(Stored stored) {
    return stored.hashes().get(stored.hashes().size() - 1);
  }

  private static boolean isOfSide(CacheScope scope, Learned learned) {
    return scope.hasGroup()
        && !AttentionGroups.isIndexed(scope, learned.group(scope.group()))
        && Media.standard().tier(scope.medium()) == Media.Tier.DEVICE;
  }

  private static boolean needsLast(CacheScope scope) {
    String kind = scope.specKind();
    return kind != null && NEEDS_LAST.contains(kind);
  }

  private static long key(long hash, CacheScope scope) {
    return hash + GOLDEN * AttentionGroups.groupOf(scope);
  }
}
