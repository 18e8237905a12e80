// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.model.Media;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.Registration;
import org.jspecify.annotations.Nullable;

/**
 * Brings the batches of one publisher to the normal form, by what the registration says and what
 * its batches taught. For one thread at a time.
 */
public final class Normaliser {

  private static final String LOCAL = "LOCAL";
  private static final String REMOTE_CACHE = "kvcr";

  private final Registration registration;
  private final LocalHasher hasher;
  private final Contexts contexts;
  private final Learned learned;
  private final ProfileCheck profileCheck;
  private final @Nullable StoreFacts store;

  /** Whether the batch at hand speaks of an LMCache's pool. */
  private boolean ofPool;

  /** For the publisher of that registration. */
  public Normaliser(Registration registration) {
    this(registration, new Learned());
  }

  /**
   * @param learned what the publisher's batches taught before; goes on learning
   */
  public Normaliser(Registration registration, Learned learned) {
    this.registration = registration;
    this.learned = learned;
    this.hasher = new LocalHasher(registration.table().hashProfile());
    this.contexts = new Contexts(registration);
    this.profileCheck = new ProfileCheck(registration, learned);
    this.store = registration.type().isPool() ? new StoreFacts(registration, learned) : null;
  }

  /** Normalises one batch that was published under no topic. */
  public NormalisedBatch normalise(EngineBatch sent) {
    return normalise("", sent);
  }

  /**
   * Normalises one batch; never fails for what the engine sent.
   *
   * @param topic what it was published under; empty = nothing, or not told
   */
  public NormalisedBatch normalise(String topic, EngineBatch sent) {
    ofPool = learned.learnTopic(topic);
    EngineBatch batch = sent.sized(blockSize());
    if (store != null) {
      return new StoreNormaliser(this, store, batch).run();
    }
    return registration.type() == SourceType.KV_EVENTS
        ? new EnvelopeNormaliser(this, batch).run()
        : new BatchNormaliser(this, batch).run();
  }

  Registration registration() {
    return registration;
  }

  Learned learned() {
    return learned;
  }

  /** How batches so far contradict the hash profile, for people; null = not seen to. */
  public @Nullable String profileProblem() {
    return learned.profileProblem();
  }

  /** What there is to say about the batches since the last call, for people; null = nothing. */
  public @Nullable String takeNotice() {
    return learned.takeNotice();
  }

  /** Whether a pool keeps account of what this publisher stores there. */
  boolean isPooled(@Nullable String medium) {
    return hasPool() && Media.standard().tier(medium) != Media.Tier.DEVICE;
  }

  int blockSize() {
    return registration.table().blockSize();
  }

  int defaultRank() {
    return registration.publisher().dpRank();
  }

  /** Local hashes of stored blocks, empty where their tokens do not tell. */
  Hashes locals(EngineEvent.Stored stored, StatedContext context) {
    return hasher.locals(
        stored.tokens(),
        stored.hashes().size(),
        blockSize(),
        context.loraName(),
        isSalted() ? learned.salts().of(stored) : null);
  }

  /** Whether the local hashes of blocks may lack the salt of a block above them. */
  boolean isSaltUnsure(EngineEvent.Stored stored) {
    return isSalted() && learned.salts().isUnsure(stored);
  }

  private boolean isSalted() {
    return registration.table().hashProfile().byTokens().algorithm() == Algorithm.XXH3_DYNAMO;
  }

  /** Whether names are prefix hashes by the table's rule. */
  boolean isEngineNamed() {
    return registration.table().hashProfile().algorithm().isEngineNamed();
  }

  LocalHasher hasher() {
    return hasher;
  }

  ProfileCheck profileCheck() {
    return profileCheck;
  }

  Contexts contexts() {
    return contexts;
  }

  /**
   * Whether an event speaks of blocks of the instance itself: neither of somewhere else nor of
   * those that vLLM's remote cache {@code kvcr} keeps for all (vllm#52067), or an LMCache's pool.
   */
  boolean isOwn(CacheScope scope) {
    String locality = scope.locality();
    String ownership = scope.ownership();
    return !ofPool
        && (locality == null || locality.equalsIgnoreCase(LOCAL))
        && (ownership == null || !ownership.equalsIgnoreCase(REMOTE_CACHE));
  }

  /** Whether the batch at hand speaks of an LMCache's pool, not of the instance. */
  boolean isOfPool() {
    return ofPool;
  }

  /** Whether a declared pool keeps account of what the instance does not hold itself. */
  boolean hasPool() {
    return registration.options().lowerTier().kind() == LowerTier.Kind.POOL;
  }

  /**
   * What a clear empties. One limited to a medium other than the device can not be told apart yet:
   * it hides all, as a miss is better than a dead block served.
   */
  ClearScope clearScope(@Nullable String medium) {
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
