// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.Adapter;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.normalise.NormalisedBatch.StreamNumber;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.Registration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Brings the batches of one publisher to the normal form, by what the registration says and what
 * its batches taught. For one thread at a time.
 */
public abstract class Normaliser {

  final Registration registration;
  final Learned learned;
  final LocalHasher hasher;
  private final StatedContext plain;
  private final LowerTierWatch lowerTiers;

  // Of the batch at hand.
  private @Nullable Integer batchRank;
  private List<KvEvent> events = List.of();
  private List<StreamNumber> numbers = List.of();
  private Map<SkipReason, Integer> skipped = Map.of();
  private Map<Remark, Integer> remarks = Map.of();
  private boolean doubtful;

  Normaliser(Registration registration, Learned learned) {
    this.registration = registration;
    this.learned = learned;
    this.hasher = new LocalHasher(registration.table().hashProfile());
    this.plain =
        new StatedContext(registration.defaultLora(), null, registration.namespace(), null);
    this.lowerTiers = new LowerTierWatch(registration);
  }

  /** For the publisher of that registration. */
  public static Normaliser of(Registration registration) {
    return of(registration, new Learned());
  }

  /**
   * For the publisher of that registration.
   *
   * @param learned what the publisher's batches taught before; goes on learning
   */
  public static Normaliser of(Registration registration, Learned learned) {
    if (registration.type().isPool()) {
      return new StoreNormaliser(registration, learned);
    }
    return registration.type() == SourceType.KV_EVENTS
        ? new EnvelopeNormaliser(registration, learned)
        : new EngineNormaliser(registration, learned);
  }

  /** Normalises one batch that was published under no topic. */
  public final NormalisedBatch normalise(EngineBatch batch) {
    return normalise("", batch);
  }

  /**
   * Normalises one batch and learns from it; never fails for what the engine sent.
   *
   * @param topic what it was published under; empty = nothing, or not told
   */
  public final NormalisedBatch normalise(String topic, EngineBatch batch) {
    batchRank = batch.rank();
    events = new ArrayList<>(batch.events().size());
    numbers = new ArrayList<>(0);
    skipped = new EnumMap<>(SkipReason.class);
    remarks = new EnumMap<>(Remark.class);
    doubtful = batch.isDoubtful();
    batch.skipped().forEach(skip -> count(skip.reason()));
    begin(batch, learned.learnTopic(topic));
    for (int i = 0; i < batch.events().size(); i++) {
      SkipReason reason = take(batch.events().get(i), i);
      if (reason != null) {
        count(reason);
      }
    }
    if (lowerTiers.suspects(events) && !learned.isConnector()) {
      remark(Remark.UNVERIFIED_TIER);
    }
    String wrongSize = learned.sizes().problem(blockSize());
    NormalisedBatch normal =
        new NormalisedBatch(
            batch.timestampMicros(),
            events,
            skipped,
            remarks,
            wrongSize == null ? learned.profileProblem() : wrongSize,
            learned.takeNotice(),
            numbers,
            doubtful);
    events = List.of(); // the next batch may be hours away
    numbers = List.of();
    return normal;
  }

  /**
   * Another batch.
   *
   * @param ofPool whether it speaks of an LMCache's pool, not of the instance
   */
  void begin(EngineBatch batch, boolean ofPool) {}

  /**
   * Takes an event in.
   *
   * @param place its place in the batch
   * @return why it is left out, null = it is not
   */
  abstract @Nullable SkipReason take(EngineEvent event, int place);

  /** An event in normal form. */
  final void add(KvEvent event) {
    events.add(event);
  }

  /** The same of a stream of its own. */
  final void add(KvEvent event, StreamNumber number) {
    events.add(event);
    numbers.add(number);
  }

  final void remark(Remark remark) {
    remarks.merge(remark, 1, Integer::sum);
  }

  private void count(SkipReason reason) {
    skipped.merge(reason, 1, Integer::sum);
  }

  /** What is left out may have taken blocks away. */
  final void doubt() {
    doubtful = true;
  }

  /** The rank of the batch's blocks. */
  final int rank() {
    return batchRank == null ? registration.publisher().dpRank() : batchRank;
  }

  final int blockSize() {
    return registration.table().blockSize();
  }

  /**
   * Adapter, namespace and salt of stored blocks: the event's own where it has them, else the
   * registration's.
   */
  final StatedContext context(Adapter adapter, @Nullable String salt) {
    Long lora = adapter.id() == Adapter.NO_ID ? null : (Long) adapter.id();
    String name = isEmpty(adapter.name()) ? defaultName(lora) : adapter.name();
    if (lora == null
        && isEmpty(salt)
        && Objects.equals(name, plain.loraName())) { // the usual case: nothing to build
      return plain;
    }
    return new StatedContext(name, lora, plain.namespace(), isEmpty(salt) ? null : salt);
  }

  /** A number without a name is the registered adapter only where just that one is registered. */
  private @Nullable String defaultName(@Nullable Long lora) {
    boolean single = registration.loraNames().size() == 1 && plain.loraName() != null;
    return lora == null || single ? plain.loraName() : StatedContext.nameOf(lora);
  }

  /** Local hashes of stored blocks, empty where their tokens do not tell. */
  final Hashes locals(EngineEvent.Stored stored, StatedContext context) {
    return hasher.locals(
        stored.tokens(),
        stored.hashes().size(),
        blockSize(),
        context.loraName(),
        isSalted() ? learned.salts().of(stored) : null);
  }

  /** Whether local hashes cover the salt of blocks. */
  final boolean isSalted() {
    return registration.table().hashProfile().byTokens().algorithm() == Algorithm.XXH3_DYNAMO;
  }

  static boolean isEmpty(@Nullable String text) {
    return text == null || text.isEmpty();
  }
}
