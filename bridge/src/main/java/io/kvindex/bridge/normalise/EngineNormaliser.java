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
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.Registration;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** What inference engines send, on its way to the normal form. For one thread. */
final class EngineNormaliser extends Normaliser {

  private static final String LOCAL = "LOCAL";
  private static final String REMOTE_CACHE = "kvcr";

  private final ProfileCheck profileCheck;

  /** Places of stores in the batch at hand of which it is known that no request reused them. */
  private BitSet computed = new BitSet(0);

  /** Whether the batch at hand speaks of an LMCache's pool. */
  private boolean ofPool;

  EngineNormaliser(Registration registration, Learned learned) {
    super(registration, learned);
    this.profileCheck = new ProfileCheck(registration, learned);
  }

  @Override
  void begin(EngineBatch batch, boolean speaksOfPool) {
    ofPool = speaksOfPool;
    profileCheck.nextBatch();
    computed = learned.computed(batch);
  }

  @Override
  @Nullable SkipReason take(EngineEvent event, int place) {
    if (event instanceof EngineEvent.Stored stored) {
      if (ConnectorMedia.isItsOwn(stored.scope().medium())) {
        learned.connector();
      }
      return addStored(ConnectorMedia.read(stored), computed.get(place));
    } else if (event instanceof EngineEvent.Removed removed) {
      return addRemoved(ConnectorMedia.read(removed));
    } else if (event instanceof EngineEvent.Cleared && ofPool) {
      return hasPool() ? SkipReason.POOLED_TIER : SkipReason.NOT_LOCAL;
    } else if (event instanceof EngineEvent.Cleared cleared) {
      add(new KvEvent.Cleared(rank(), clearScope(ConnectorMedia.of(cleared.medium()))));
      return null;
    }
    throw new IllegalStateException("BUG: no way to normalise " + event);
  }

  /**
   * @param isComputed whether it is known that no request merely reused them
   */
  private @Nullable SkipReason addStored(EngineEvent.Stored stored, boolean isComputed) {
    SkipReason reason = reasonToSkip(stored);
    if (reason != null) {
      return reason;
    }
    remarkOn(stored);
    StatedContext context = context(stored.adapter(), stored.salt());
    boolean byTokens = profileCheck.isByTokens(stored, context);
    Hashes locals = byTokens ? locals(stored, context) : Hashes.EMPTY;
    if (!locals.isEmpty() && isSaltUnsure(stored)) {
      remark(Remark.UNVERIFIED_SALT);
    }
    Parent parent = parent(stored);
    Origin origin = stored.origin();
    KvEvent.Stored event =
        new KvEvent.Stored(
            place(stored.scope()),
            context,
            parent,
            stored.hashes(),
            locals,
            stored.extraHashes(),
            origin != null ? origin : isComputed ? Origin.NEW : Origin.impliedBy(parent));
    boolean others = isPooled(stored.scope().medium()) || !isOwn(stored.scope());
    add(others ? new KvEvent.Taught(event) : event);
    return null;
  }

  private @Nullable SkipReason reasonToSkip(EngineEvent.Stored stored) {
    CacheScope scope = stored.scope();
    if (stored.hashes().isEmpty()) {
      return SkipReason.NO_HASHES;
    } else if (!isOwn(scope) && !hasPool()) {
      return SkipReason.NOT_LOCAL;
    }
    if (scope.specKind() != null) {
      boolean tellsSize = isDevice(scope) && !mayBePartial(stored);
      learned.learn(scope, tellsSize ? stored.blockSize() : 0);
    }
    GroupSpec known = learned.group(AttentionGroups.groupOf(scope));
    if (!AttentionGroups.isIndexed(scope, known)
        || AttentionGroups.isUnknown(registration.type(), scope, known)) {
      return SkipReason.ATTENTION_GROUP;
    }
    int blockSize =
        stored.blockSize() != 0 || known == null ? stored.blockSize() : known.blockSize();
    boolean fits = blockSize == 0 || blockSize == blockSize();
    if (!fits && isDevice(scope) && mayBePartial(stored)) {
      learned.sizes().isPartial(stored.blockSize());
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
    return stored.scope().hasGroup()
        && stored.hashes().size() == 1
        && size > 0
        && size < blockSize();
  }

  /** Connectors to lower tiers may use chunks of their own size; the device tells the engine's. */
  private void note(boolean fits, EngineEvent.Stored stored) {
    if (fits) {
      learned.sizes().fits();
    } else {
      learned.sizes().differs(stored.blockSize());
    }
  }

  private static boolean isDevice(CacheScope scope) {
    return Media.standard().tier(scope.medium()) == Media.Tier.DEVICE;
  }

  private void remarkOn(EngineEvent.Stored stored) {
    if (stored.tokens().isBigram()) {
      remark(Remark.TOKENS_PAIRED);
    } else if (stored.tokens().fit() == Fit.UNUSABLE) {
      remark(Remark.TOKENS_UNUSABLE);
    }
    if (!stored.extraHashes().isEmpty()) {
      remark(Remark.EXTRA_KEYS);
    }
  }

  private @Nullable SkipReason addRemoved(EngineEvent.Removed removed) {
    if (removed.hashes().isEmpty()) {
      return SkipReason.NO_HASHES;
    } else if (!isOwn(removed.scope())) {
      return hasPool() ? SkipReason.POOLED_TIER : SkipReason.NOT_LOCAL;
    } else if (isPooled(removed.scope().medium())) {
      return SkipReason.POOLED_TIER;
    }
    CacheScope scope = removed.scope();
    GroupSpec known = learned.group(AttentionGroups.groupOf(scope));
    // Of a group no store has told of something may be indexed all the same: by an older bridge.
    if (known != null && !AttentionGroups.isIndexed(scope, known)) {
      return SkipReason.ATTENTION_GROUP;
    }
    add(new KvEvent.Removed(place(removed.scope()), removed.hashes(), removed.remainingCopies()));
    return null;
  }

  /** Secondary tiers of one medium hold copies of their own, so the tier is part of the place. */
  private Place place(CacheScope scope) {
    return new Place(scope.medium(), rank(), AttentionGroups.groupOf(scope), scope.ownership());
  }

  /**
   * A stated parent is one, except 0, which storage publishers and LMCache write for not known. No
   * parent means the start of a prompt only where the engine describes the block by its tokens; a
   * store without tokens is a change of tier of blocks described before. Nor does it where only
   * connectors to a store spell the medium so: vLLM's Mooncake connector states no parent for the
   * first block of each put, wherever in the prompt it stands.
   */
  private static Parent parent(EngineEvent.Stored stored) {
    Parent parent = stored.parent();
    if (parent.isNamed()) {
      return parent.hash() == 0 ? Parent.UNKNOWN : parent;
    }
    boolean described =
        stored.tokens().fit() != Fit.NONE && !ConnectorMedia.CPU.equals(stored.scope().medium());
    return described ? Parent.ROOT : Parent.UNKNOWN;
  }

  /** Whether the local hashes of blocks may lack the salt of a block above them. */
  private boolean isSaltUnsure(EngineEvent.Stored stored) {
    return isSalted() && learned.salts().isUnsure(stored);
  }

  /** Whether a pool keeps account of what this publisher stores there. */
  private boolean isPooled(@Nullable String medium) {
    return hasPool() && Media.standard().tier(medium) != Media.Tier.DEVICE;
  }

  /** Whether a declared pool keeps account of what the instance does not hold itself. */
  private boolean hasPool() {
    return registration.options().lowerTier().kind() == LowerTier.Kind.POOL;
  }

  /**
   * Whether an event speaks of blocks of the instance itself: neither of somewhere else nor of
   * those that vLLM's remote cache {@code kvcr} keeps for all (vllm#52067), or an LMCache's pool.
   */
  private boolean isOwn(CacheScope scope) {
    String locality = scope.locality();
    String ownership = scope.ownership();
    return !ofPool
        && (locality == null || locality.equalsIgnoreCase(LOCAL))
        && (ownership == null || !ownership.equalsIgnoreCase(REMOTE_CACHE));
  }

  /**
   * What a clear empties. One limited to a medium other than the device can not be told apart yet:
   * it hides all, as a miss is better than a dead block served.
   */
  private ClearScope clearScope(@Nullable String medium) {
    ClearScope registered = registration.options().clearScope();
    if (registered == ClearScope.ALL) {
      return registered; // whatever it names, as Dynamo
    } else if (medium != null) {
      boolean device = Media.standard().tier(medium) == Media.Tier.DEVICE;
      return device ? ClearScope.DEVICE : ClearScope.ALL;
    }
    if (registered != null) {
      return registered;
    }
    return switch (registration.type()) {
      case VLLM -> ClearScope.DEVICE;
      case SGLANG -> ClearScope.DEVICE_AND_HOST;
      case MOONCAKE, TENSORRT_LLM -> ClearScope.ALL;
      case KV_EVENTS -> ClearScope.STREAM;
    };
  }
}
