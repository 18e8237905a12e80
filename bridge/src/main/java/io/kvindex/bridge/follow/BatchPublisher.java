// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.decode.RejectReason;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.metrics.EventLabel;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.normalise.Normaliser;
import io.kvindex.bridge.produce.BatchMark;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.RecordSplitter;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.registration.Registration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns a batch into event records and sends them. Each sequence yields a record, whatever it held,
 * so that consumers can tell "nothing happened" from "something is missing". For its loop's thread
 * only.
 */
final class BatchPublisher {

  private static final Logger LOG = LoggerFactory.getLogger(BatchPublisher.class);

  private final OncePerMinute errors = new OncePerMinute();
  private final EventSink sink;
  private final RecordSplitter splitter;
  private final BridgeMetrics metrics;
  private final FollowStatus status;
  private Registration registration;
  private final EngineDecoder decoder;
  private @Nullable Normaliser normaliser;
  private final Learned learned;
  private final boolean resets;

  /** What of the groups the log was told, see {@link Learned#changes}. */
  private int toldChanges;

  /** Batches until the next one that is traced; the first one is. */
  private int untilTraced;

  private final int traceOneIn;

  private final CurrentLife life;

  /** A clear of ours, not the publisher's: it is not counted as one of its events. */
  private final KvEvent.Cleared reset;

  BatchPublisher(Followers site, FollowStatus status, CurrentLife life, Life start) {
    this.life = life;
    this.sink = site.sink;
    this.splitter = new RecordSplitter(site.limits.recordBytes());
    this.metrics = site.metrics;
    this.traceOneIn = site.limits.traceOneIn();
    this.resets = site.limits.gaps() == GapPolicy.RESET;
    this.reset = new KvEvent.Cleared(start.registration().publisher().dpRank(), ClearScope.ALL);
    this.status = status;
    this.registration = start.registration();
    this.decoder = EngineDecoder.forSource(registration.type());
    boolean first = start.acked() == null && !(start.opens() && keepsBlocks());
    this.learned = new Learned(start.groups(), first);
  }

  /** Attention groups the stores of this life have told of; any thread. */
  List<GroupSpec> groups() {
    return learned.groups();
  }

  /** The next batches are another life's, which may be laid out otherwise. */
  void forget() {
    learned.forget(keepsBlocks());
  }

  private SourceTraits traits() {
    return registration.options().traits(learned.isConnector());
  }

  private boolean keepsBlocks() {
    return !registration.options().persistentMedia().isEmpty();
  }

  /** The registration changed in a way that goes on with the same generation. */
  void update(Registration changed) {
    registration = changed;
    normaliser = null;
  }

  /**
   * Makes what is needed to normalise.
   *
   * @throws IllegalArgumentException if events of that registration can not be normalised
   */
  Normaliser prepare() {
    if (normaliser == null) {
      normaliser = Normaliser.of(registration, learned);
    }
    return normaliser;
  }

  /**
   * Announces the life followed.
   *
   * @param taken told by the producer's thread when Kafka has the announcement
   * @param refused told by it if Kafka does not take it
   */
  void begin(Runnable taken, Consumer<Exception> refused) {
    EventRecord opening =
        EventRecord.opening(
            registration.table(),
            StreamId.of(registration.publisher()),
            registration.type(),
            traits(),
            life.incarnation(),
            life.retells() != null);
    metrics.batch(opening.events());
    sink.sendAlone(
        opening,
        (metadata, problem) -> {
          if (problem != null) {
            metrics.produceError(problem);
            refused.accept(problem);
          } else {
            taken.run();
          }
        });
  }

  /** A batch came live. It may be a replay that it is taken from, which does not tell its topic. */
  void heard(RawBatch batch) {
    learned.learnTopic(batch.topic());
  }

  /** What a batch holds, whatever its payload does to a decoder; nothing is learned from it. */
  DecodeResult decoded(RawBatch batch) {
    try {
      return batch.decoded(decoder, registration.table().blockSize());
    } catch (RuntimeException e) {
      noteFailure(batch, e);
      return new BatchRejected(RejectReason.DECODER_FAILED);
    }
  }

  private @Nullable NormalisedBatch normalise(RawBatch batch, EngineBatch decoded) {
    try {
      return prepare().normalise(batch.topic(), decoded);
    } catch (RuntimeException e) {
      noteFailure(batch, e);
      return null;
    }
  }

  /** Its sequence counts all the same, and the stream goes on. */
  private void noteFailure(RawBatch batch, RuntimeException e) {
    if (errors.allows()) {
      LOG.error(
          "BUG: publisher={} sequence={} can not be decoded",
          registration.publisher(),
          Long.toUnsignedString(batch.sequence()),
          e);
    }
  }

  /**
   * Sends what the batch holds.
   *
   * @param after sequence of the record before it on this stream, null = none in this life
   * @param gap what is missing before it, null = nothing
   */
  void publish(RawBatch batch, @Nullable Long after, KvEvent.@Nullable Gap gap) {
    if (gap != null) {
      learned.lost();
    }
    SendSession session = life.session();
    DecodeResult decoded = decoded(batch);
    NormalisedBatch normal = decoded instanceof EngineBatch sent ? normalise(batch, sent) : null;
    if (normal == null || normal.doubtful()) {
      learned.lost();
    }
    List<KvEvent> events = new ArrayList<>(normal == null ? 2 : normal.events().size() + 1);
    if (gap != null) {
      add(gap, events);
    }
    BatchRecords records =
        new BatchRecords(
            registration,
            traits(),
            life.incarnation(),
            splitter,
            batch.sequence(),
            after,
            normal == null ? 0 : normal.timestampMicros());
    if (normal == null) {
      quarantine(
          batch, decoded instanceof BatchRejected bad ? bad.reason() : RejectReason.DECODER_FAILED);
      add(doubt(batch), events);
      endRetelling(batch, after, events);
      records.whole(events);
    } else if (isNumbered()) {
      note(batch, normal, events);
      endRetelling(batch, after, events);
      events.addAll(records.numbered(events, normal, session));
      records.skipped().forEach((reason, count) -> status.skipped(reason, count, batch.sequence()));
    } else {
      events.addAll(normal.events());
      note(batch, normal, events);
      endRetelling(batch, after, events);
      records.whole(events);
    }
    Map<EventLabel, Long> kinds =
        EventLabel.count(
            resets ? events.stream().filter(event -> event != reset).toList() : events);
    status.batch(kinds);
    long clears = kinds.getOrDefault(EventLabel.CLEARED, 0L);
    boolean toldMore = learned.changes() != toldChanges;
    toldChanges = learned.changes();
    BatchMark mark = new BatchMark(batch.fingerprint(), toldMore ? learned.groups() : null);
    sink.send(
        session, records.all(), records.ids(), batch.receivedMicros(), clears, mark, isTraced());
  }

  private boolean isTraced() {
    if (traceOneIn == 0 || untilTraced-- > 0) {
      return false;
    }
    untilTraced = traceOneIn - 1;
    return true;
  }

  /**
   * Batches are taken once more from where Kafka has them: it may not have the one that said which
   * groups there are.
   */
  void goesBack() {
    toldChanges = -1;
    learned.lost();
  }

  /** Whether events have streams and numbers of their own. */
  private boolean isNumbered() {
    return registration.type() == SourceType.KV_EVENTS;
  }

  private void note(RawBatch batch, NormalisedBatch normal, List<KvEvent> events) {
    normal.skipped().forEach((reason, count) -> status.skipped(reason, count, batch.sequence()));
    normal.remarks().forEach((remark, count) -> status.remarked(remark.label(), count));
    status.mismatched(normal.problem() != null, normal.problem());
    if (normal.notice() != null) {
      status.problem(normal.notice());
    }
    if (!isNumbered() && normal.events().stream().anyMatch(KvEvent.Cleared.class::isInstance)) {
      status.cleared(); // a stream's clear leaves the others as they were
    }
    if (normal.doubtful()) {
      status.unreadable(
          "batch "
              + Long.toUnsignedString(batch.sequence())
              + " holds an unreadable event, which may have taken blocks away");
      add(doubt(batch), events);
    }
    status.outcome(FrameOutcome.APPLIED, 1);
  }

  private void endRetelling(RawBatch batch, @Nullable Long after, List<KvEvent> events) {
    if (registration.replayEndpoint() == null
        && events.stream().anyMatch(KvEvent.Cleared.class::isInstance)) {
      life.tellsNoMoreThan(batch.sequence());
    }
    if (life.endsRetelling(batch.sequence(), after)) {
      events.add(new KvEvent.Retold());
    }
  }

  /** Notes that something is lost, and throws away what may be wrong by it if that is wanted. */
  private void add(KvEvent.Gap gap, List<KvEvent> events) {
    events.add(gap);
    if (resets) {
      events.add(reset);
      status.reset();
    }
  }

  /** What is left of blocks that this batch may have taken away can not be known. */
  private static KvEvent.Gap doubt(RawBatch batch) {
    return new KvEvent.Gap(batch.sequence(), batch.sequence());
  }

  private void quarantine(RawBatch batch, RejectReason why) {
    status.quarantined(why, batch.sequence());
    byte[] payload = batch.payload();
    sink.quarantine(
        registration.publisher(),
        new QuarantinedFrame(
            life.incarnation(),
            batch.sequence(),
            batch.receivedMicros(),
            why.label(),
            payload.length,
            payload));
  }
}
