// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.Envelope;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.bridge.normalise.NormalisedBatch.StreamNumber;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.Registration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One batch of a publisher of the standard on its way to the normal form: each event says itself
 * whose blocks it speaks of, where and in which order, and its hashes name whole prefixes. For one
 * thread, used once.
 *
 * <p>The cache an event speaks of is its stream: its eight dimensions become the owner's backend,
 * so that removals and clears reach exactly what was stored under the same ones.
 */
final class EnvelopeNormaliser {

  /** What publishers without tenants write. */
  private static final String ANY_TENANT = "default";

  private final Normaliser facts;
  private final Registration registration;
  private final EngineBatch batch;
  private final List<KvEvent> events;
  private final List<StreamNumber> numbers;
  private final Map<SkipReason, Integer> skipped = new EnumMap<>(SkipReason.class);
  private final Map<Remark, Integer> remarks = new EnumMap<>(Remark.class);

  EnvelopeNormaliser(Normaliser facts, EngineBatch batch) {
    this.facts = facts;
    this.registration = facts.registration();
    this.batch = batch;
    this.events = new ArrayList<>(batch.events().size());
    this.numbers = new ArrayList<>(batch.events().size());
  }

  NormalisedBatch run() {
    batch.skipped().forEach(skip -> count(skip.reason()));
    for (EngineEvent event : batch.events()) {
      SkipReason reason =
          event instanceof EngineEvent.Enveloped enveloped
              ? add(enveloped.envelope(), enveloped.event())
              : SkipReason.MALFORMED;
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
        numbers,
        batch.isDoubtful());
  }

  private @Nullable SkipReason add(Envelope envelope, EngineEvent event) {
    SkipReason foreign = reasonToSkip(envelope);
    if (foreign != null) {
      return foreign;
    }
    String sub = StreamNames.of(envelope);
    if (sub.length() > StreamNames.MAX_LENGTH) {
      return SkipReason.STREAM_LIMIT;
    }
    int rank = rank(envelope);
    Place place = new Place(envelope.medium(), rank, 0, sub);
    KvEvent normal;
    if (event instanceof EngineEvent.Stored stored) {
      SkipReason reason = reasonToSkip(envelope, stored);
      if (reason != null) {
        return reason;
      }
      if (envelope.blockSize() != null && envelope.blockSize() != 0) {
        facts.learned().sizes().fits();
      }
      normal = stored(envelope, stored, place);
    } else if (event instanceof EngineEvent.Removed removed) {
      if (removed.hashes().isEmpty()) {
        return SkipReason.NO_HASHES;
      }
      compareDepths(envelope.baseBlockIdx(), removed.hashes());
      normal = new KvEvent.Removed(place, removed.hashes(), Hashes.EMPTY);
    } else {
      normal = new KvEvent.Cleared(rank, ClearScope.STREAM);
    }
    events.add(normal);
    numbers.add(new StreamNumber(sub, envelope.eventId()));
    return null;
  }

  /** A registration is of one table; what belongs to another needs a registration of its own. */
  private @Nullable SkipReason reasonToSkip(Envelope envelope) {
    String tenant = envelope.tenantId();
    Integer blockSize = envelope.blockSize();
    if (!agrees(envelope.model(), registration.table().model())) {
      return SkipReason.OTHER_MODEL;
    } else if (!ANY_TENANT.equals(tenant) && !agrees(tenant, registration.table().tenantId())) {
      return SkipReason.OTHER_TENANT;
    } else if (blockSize != null && blockSize != 0 && blockSize != facts.blockSize()) {
      facts.learned().sizes().differsInPart(envelope.medium(), blockSize);
      return SkipReason.BLOCK_SIZE_MISMATCH;
    }
    return null;
  }

  private static @Nullable SkipReason reasonToSkip(Envelope envelope, EngineEvent.Stored stored) {
    if (stored.hashes().isEmpty()) {
      return SkipReason.NO_HASHES;
    }
    return stored.parent() == null && envelope.baseBlockIdx() == null
        ? SkipReason.NO_POSITION
        : null;
  }

  private KvEvent stored(Envelope envelope, EngineEvent.Stored stored, Place place) {
    Parent parent = parent(envelope, stored);
    noteDepths(envelope, stored, parent);
    StatedContext context = context(envelope);
    return new KvEvent.Stored(
        place, context, parent, stored.hashes(), locals(stored, parent, context), Hashes.EMPTY);
  }

  private static Parent parent(Envelope envelope, EngineEvent.Stored stored) {
    Long base = envelope.baseBlockIdx();
    Long parent = stored.parent();
    boolean opens = base != null && base == 0;
    if (parent == null) {
      return opens ? Parent.ROOT : Parent.UNKNOWN;
    }
    return opens && parent == 0 ? Parent.ROOT : Parent.of(parent);
  }

  /** Local hashes where the event's hashes are mere names and its tokens say what they mean. */
  private Hashes locals(EngineEvent.Stored stored, Parent parent, StatedContext context) {
    Fit fit = stored.tokens().fit();
    if (fit == Fit.NONE || registration.table().hashProfile().algorithm() != Algorithm.XXH3) {
      return Hashes.EMPTY;
    } else if (fit == Fit.UNUSABLE) {
      remark(Remark.TOKENS_UNUSABLE);
      return Hashes.EMPTY;
    } else if (stored.tokens().isBigram()) {
      remark(Remark.TOKENS_PAIRED);
    }
    Hashes locals =
        facts
            .hasher()
            .locals(
                stored.tokens(),
                stored.hashes().size(),
                facts.blockSize(),
                context.loraName(),
                context.salt());
    if (locals.isEmpty() || facts.hasher().isStandard(stored.hashes(), parent, locals)) {
      return Hashes.EMPTY;
    }
    remark(Remark.NON_STANDARD_HASH);
    return locals;
  }

  private void noteDepths(Envelope envelope, EngineEvent.Stored stored, Parent parent) {
    Long base = envelope.baseBlockIdx();
    Depths depths = facts.learned().depths();
    Long above = parent.kind() == Parent.Kind.HASH ? depths.of(parent.hash()) : null;
    if (base != null && (parent.kind() == Parent.Kind.HASH && base == 0 || disagree(above, base))) {
      remark(Remark.INDEX_MISMATCH);
    }
    Long first = above != null ? Long.valueOf(above + 1) : base;
    if (first != null) {
      for (int i = 0; i < stored.hashes().size(); i++) {
        depths.learn(stored.hashes().get(i), first + i);
      }
    }
  }

  private static boolean disagree(@Nullable Long above, long base) {
    return above != null && above + 1 != base;
  }

  private void compareDepths(@Nullable Long base, Hashes hashes) {
    Long known = base == null ? null : facts.learned().depths().of(hashes.get(0));
    if (known != null && !known.equals(base)) {
      remark(Remark.INDEX_MISMATCH);
    }
  }

  private StatedContext context(Envelope envelope) {
    String lora = envelope.loraName();
    String salt = envelope.additionalSalt();
    return new StatedContext(
        isEmpty(lora) ? registration.defaultLora() : lora,
        null,
        isEmpty(salt) ? registration.namespace() : salt,
        null);
  }

  private int rank(Envelope envelope) {
    Integer stated = envelope.dpRank() == null ? batch.rank() : envelope.dpRank();
    return stated == null ? facts.defaultRank() : stated;
  }

  private static boolean agrees(@Nullable String stated, String registered) {
    return stated == null || stated.isEmpty() || stated.equals(registered);
  }

  private static boolean isEmpty(@Nullable String text) {
    return text == null || text.isEmpty();
  }

  private void remark(Remark remark) {
    remarks.merge(remark, 1, Integer::sum);
  }

  private void count(SkipReason reason) {
    skipped.merge(reason, 1, Integer::sum);
  }
}
