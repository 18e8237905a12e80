// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

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
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What publishers of the standard send, on its way to the normal form: each event says itself whose
 * blocks it speaks of, where and in which order, and its hashes name whole prefixes. For one
 * thread.
 *
 * <p>The cache an event speaks of is its stream: its eight dimensions become the owner's backend,
 * so that removals and clears reach exactly what was stored under the same ones.
 */
final class EnvelopeNormaliser extends Normaliser {

  /** What publishers without tenants write. */
  private static final String ANY_TENANT = "default";

  /** Longest name of a stream that is kept; names come with every record and in progress. */
  private static final int MAX_STREAM_CHARS = 1_024;

  EnvelopeNormaliser(Registration registration, Learned learned) {
    super(registration, learned);
  }

  @Override
  @Nullable SkipReason take(EngineEvent event, int place) {
    return event instanceof EngineEvent.Enveloped enveloped
        ? take(enveloped.envelope(), enveloped.event())
        : SkipReason.MALFORMED;
  }

  private @Nullable SkipReason take(Envelope envelope, EngineEvent event) {
    SkipReason foreign = reasonToSkip(envelope);
    if (foreign != null) {
      return foreign;
    }
    String sub = streamOf(envelope);
    if (sub.length() > MAX_STREAM_CHARS) {
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
      if (envelope.blockSize() > 0) {
        learned.sizes().fits();
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
    add(normal, new StreamNumber(sub, envelope.eventId()));
    return null;
  }

  /**
   * Text form of the eight members that name a stream of the standard: percent-encoded, in the
   * order of the standard, each with a slash behind it. What is not stated is empty.
   */
  private static String streamOf(Envelope envelope) {
    StringBuilder text = new StringBuilder(64);
    append(text, envelope.model());
    append(text, envelope.blockSize() < 0 ? null : envelope.blockSize());
    append(text, envelope.additionalSalt());
    append(text, envelope.loraName());
    append(text, envelope.tenantId());
    append(text, envelope.backendId());
    append(text, envelope.medium());
    append(text, envelope.dpRank() < 0 ? null : envelope.dpRank());
    return text.toString();
  }

  private static void append(StringBuilder text, @Nullable Object member) {
    if (member != null) {
      text.append(URLEncoder.encode(member.toString(), StandardCharsets.UTF_8));
    }
    text.append('/');
  }

  /** A registration is of one table; what belongs to another needs a registration of its own. */
  private @Nullable SkipReason reasonToSkip(Envelope envelope) {
    String tenant = envelope.tenantId();
    int blockSize = envelope.blockSize();
    if (!agrees(envelope.model(), registration.table().model())) {
      return SkipReason.OTHER_MODEL;
    } else if (!ANY_TENANT.equals(tenant) && !agrees(tenant, registration.table().tenantId())) {
      return SkipReason.OTHER_TENANT;
    } else if (blockSize > 0 && blockSize != blockSize()) {
      learned.sizes().differsInPart(blockSize);
      return SkipReason.BLOCK_SIZE_MISMATCH;
    }
    return null;
  }

  private static @Nullable SkipReason reasonToSkip(Envelope envelope, EngineEvent.Stored stored) {
    if (stored.hashes().isEmpty()) {
      return SkipReason.NO_HASHES;
    }
    return !stored.parent().isNamed() && envelope.baseBlockIdx() < 0
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
    Parent named = stored.parent();
    return envelope.baseBlockIdx() == 0 && named.hash() == 0 ? Parent.ROOT : named;
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
        hasher.locals(
            stored.tokens(),
            stored.hashes().size(),
            blockSize(),
            context.loraName(),
            context.salt());
    if (locals.isEmpty() || hasher.isStandard(stored.hashes(), parent, locals)) {
      return Hashes.EMPTY;
    }
    remark(Remark.NON_STANDARD_HASH);
    return locals;
  }

  private void noteDepths(Envelope envelope, EngineEvent.Stored stored, Parent parent) {
    long base = envelope.baseBlockIdx();
    Depths depths = learned.depths();
    Long above = parent.isNamed() ? depths.of(parent.hash()) : null;
    if (base >= 0 && (parent.isNamed() && base == 0 || disagree(above, base))) {
      remark(Remark.INDEX_MISMATCH);
    }
    long first = above != null ? above + 1 : base;
    if (first >= 0) {
      for (int i = 0; i < stored.hashes().size(); i++) {
        depths.learn(stored.hashes().get(i), first + i);
      }
    }
  }

  private static boolean disagree(@Nullable Long above, long base) {
    return above != null && above + 1 != base;
  }

  private void compareDepths(long base, Hashes hashes) {
    Long known = base < 0 ? null : learned.depths().of(hashes.get(0));
    if (known != null && known != base) {
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
    return envelope.dpRank() < 0 ? rank() : envelope.dpRank();
  }

  private static boolean agrees(@Nullable String stated, String registered) {
    return isEmpty(stated) || registered.equals(stated);
  }
}
