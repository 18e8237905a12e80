// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.Media;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.progress.GroupSpec;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One batch on its way to the normal form. For one thread, used once. */
final class BatchNormaliser {

  private final Normaliser facts;
  private final EngineBatch batch;
  private final int rank;
  private final List<KvEvent> events;
  private final Map<SkipReason, Integer> skipped = new EnumMap<>(SkipReason.class);
  private final Map<Remark, Integer> remarks = new EnumMap<>(Remark.class);

  BatchNormaliser(Normaliser facts, EngineBatch batch) {
    this.facts = facts;
    this.batch = batch;
    Integer stated = batch.rank();
    this.rank = stated == null ? facts.defaultRank() : stated;
    this.events = new ArrayList<>(batch.events().size());
  }

  NormalisedBatch run() {
    facts.profileCheck().nextBatch();
    batch.skipped().forEach(skip -> count(skip.reason()));
    BitSet computed = facts.learned().computed(batch);
    for (int i = 0; i < batch.events().size(); i++) {
      SkipReason reason = add(batch.events().get(i), computed.get(i));
      if (reason != null) {
        count(reason);
      }
    }
    return new NormalisedBatch(
        batch.timestampMicros(),
        events,
        skipped,
        remarks,
        facts.learned().sizes().problem(),
        List.of(),
        batch.isDoubtful());
  }

  private @Nullable SkipReason add(EngineEvent event, boolean computed) {
    if (event instanceof EngineEvent.Stored stored) {
      if (ConnectorMedia.isItsOwn(stored.scope().medium())) {
        facts.learned().connector();
      }
      return addStored(ConnectorMedia.read(stored), computed);
    } else if (event instanceof EngineEvent.Removed removed) {
      return addRemoved(ConnectorMedia.read(removed));
    } else if (event instanceof EngineEvent.Cleared && facts.isOfPool()) {
      return facts.hasPool() ? SkipReason.POOLED_TIER : SkipReason.NOT_LOCAL;
    } else if (event instanceof EngineEvent.Cleared cleared) {
      events.add(new KvEvent.Cleared(rank, facts.clearScope(ConnectorMedia.of(cleared.medium()))));
      return null;
    }
    throw new IllegalStateException("BUG: no way to normalise " + event);
  }

  /**
   * @param computed whether it is known that no request merely reused them
   */
  private @Nullable SkipReason addStored(EngineEvent.Stored stored, boolean computed) {
    SkipReason reason = reasonToSkip(stored);
    if (reason != null) {
      return reason;
    }
    remarkOn(stored);
    StatedContext context = facts.contexts().of(stored.adapter(), stored.salt());
    boolean byTokens = facts.profileCheck().isByTokens(stored, context);
    Hashes locals = byTokens ? facts.locals(stored, context) : Hashes.EMPTY;
    if (!locals.isEmpty() && facts.isSaltUnsure(stored)) {
      remarks.merge(Remark.UNVERIFIED_SALT, 1, Integer::sum);
    }
    Parent parent = Parents.of(stored);
    Origin origin = stored.origin();
    KvEvent.Stored event =
        new KvEvent.Stored(
            place(stored.scope()),
            context,
            parent,
            stored.hashes(),
            locals,
            stored.extraHashes(),
            origin != null ? origin : computed ? Origin.NEW : Origin.impliedBy(parent));
    boolean others = facts.isPooled(stored.scope().medium()) || !facts.isOwn(stored.scope());
    events.add(others ? new KvEvent.Taught(event) : event);
    return null;
  }

  private @Nullable SkipReason reasonToSkip(EngineEvent.Stored stored) {
    CacheScope scope = stored.scope();
    if (stored.hashes().isEmpty()) {
      return SkipReason.NO_HASHES;
    } else if (!facts.isOwn(scope) && !facts.hasPool()) {
      return SkipReason.NOT_LOCAL;
    }
    if (scope.specKind() != null) {
      boolean tellsSize = isDevice(scope) && !mayBePartial(stored);
      facts.learned().learn(scope, tellsSize ? stored.blockSize() : 0);
    }
    GroupSpec known = facts.learned().group(AttentionGroups.groupOf(scope));
    if (!AttentionGroups.isIndexed(scope, known)
        || AttentionGroups.isUnknown(facts.registration().type(), scope, known)) {
      return SkipReason.ATTENTION_GROUP;
    }
    int blockSize =
        stored.blockSize() != 0 || known == null ? stored.blockSize() : known.blockSize();
    boolean fits = blockSize == 0 || blockSize == facts.blockSize();
    if (!fits && isDevice(scope) && mayBePartial(stored)) {
      facts.learned().sizes().isPartial(scope.medium(), stored.blockSize());
      return SkipReason.PARTIAL_BLOCK;
    }
    if (stored.blockSize() != 0 && isDevice(scope)) {
      note(fits, stored);
    }
    return fits ? null : SkipReason.BLOCK_SIZE_MISMATCH;
  }

  /**
   * The beginning of a block that is not full yet, which vLLM announces with {@code
   * --prefix-match-unit} (vllm#45939): one hash, fewer tokens than a block has. Versions that do so
   * name the group.
   */
  private boolean mayBePartial(EngineEvent.Stored stored) {
    int size = stored.blockSize();
    return stored.scope().group() != null
        && stored.hashes().size() == 1
        && size > 0
        && size < facts.blockSize();
  }

  /** Connectors to lower tiers may use chunks of their own size; the device tells the engine's. */
  private void note(boolean fits, EngineEvent.Stored stored) {
    if (fits) {
      facts.learned().sizes().fits();
    } else {
      facts.learned().sizes().differs(stored.scope().medium(), stored.blockSize());
    }
  }

  private static boolean isDevice(CacheScope scope) {
    return Media.standard().tier(scope.medium()) == Media.Tier.DEVICE;
  }

  private void remarkOn(EngineEvent.Stored stored) {
    if (stored.tokens().isBigram()) {
      remarks.merge(Remark.TOKENS_PAIRED, 1, Integer::sum);
    } else if (stored.tokens().fit() == Fit.UNUSABLE) {
      remarks.merge(Remark.TOKENS_UNUSABLE, 1, Integer::sum);
    }
    if (!stored.extraHashes().isEmpty()) {
      remarks.merge(Remark.EXTRA_KEYS, 1, Integer::sum);
    }
  }

  private @Nullable SkipReason addRemoved(EngineEvent.Removed removed) {
    if (removed.hashes().isEmpty()) {
      return SkipReason.NO_HASHES;
    } else if (!facts.isOwn(removed.scope())) {
      return facts.hasPool() ? SkipReason.POOLED_TIER : SkipReason.NOT_LOCAL;
    } else if (facts.isPooled(removed.scope().medium())) {
      return SkipReason.POOLED_TIER;
    }
    CacheScope scope = removed.scope();
    GroupSpec known = facts.learned().group(AttentionGroups.groupOf(scope));
    // Of a group no store has told of something may be indexed all the same: by an older bridge.
    if (known != null && !AttentionGroups.isIndexed(scope, known)) {
      return SkipReason.ATTENTION_GROUP;
    }
    events.add(
        new KvEvent.Removed(place(removed.scope()), removed.hashes(), removed.remainingCopies()));
    return null;
  }

  /** Secondary tiers of one medium hold copies of their own, so the tier is part of the place. */
  private Place place(CacheScope scope) {
    return new Place(scope.medium(), rank, AttentionGroups.groupOf(scope), scope.ownership());
  }

  private void count(SkipReason reason) {
    skipped.merge(reason, 1, Integer::sum);
  }
}
