// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.follow.BatchDecoder.Decoded;
import io.kvindex.bridge.follow.BatchDecoder.Parsed;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.metrics.EventLabel;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.produce.BatchMark;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.RecordSplitter;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.zmq.RawBatch;
import io.kvindex.model.Incarnation;
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
 * so that consumers can tell "nothing happened" from "something is missing". I/O thread only.
 */
final class BatchPublisher {

  private static final Logger LOG = LoggerFactory.getLogger(BatchPublisher.class);

  private final OncePerMinute errors = new OncePerMinute();
  private final EventSink sink;
  private final RecordSplitter splitter;
  private final BridgeMetrics metrics;
  private final FollowStatus status;
  private Incarnation incarnation;
  private Registration registration;
  private @Nullable BatchDecoder decoder;
  private final BatchDecoder.Factory decoders;
  private final Learned learned;
  private final boolean resets;

  /** What of the groups the log was told, see {@link Learned#changes}. */
  private int toldChanges;

  private final Retelling retelling;

  /** A clear of ours, not the publisher's: it is not counted as one of its events. */
  private final KvEvent.Cleared reset;

  BatchPublisher(FollowContext context, FollowStatus status, Retelling retelling, Life start) {
    this.retelling = retelling;
    this.sink = context.sink();
    this.splitter = new RecordSplitter(context.limits().recordBytes());
    this.metrics = context.metrics();
    this.decoders = context.decoders();
    this.resets = context.limits().gaps() == GapPolicy.RESET;
    this.reset = new KvEvent.Cleared(start.registration().publisher().dpRank(), ClearScope.ALL);
    this.status = status;
    this.registration = start.registration();
    this.incarnation = start.incarnation();
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
    decoder = null;
  }

  /**
   * Makes what is needed to decode.
   *
   * @throws IllegalArgumentException if events of that registration can not be decoded
   */
  BatchDecoder prepare() {
    if (decoder == null) {
      decoder = decoders.create(registration, learned);
    }
    return decoder;
  }

  /**
   * From here on batches are that life's, which is announced at once.
   *
   * @param taken told by the producer's thread when Kafka has the announcement
   * @param refused told by it if Kafka does not take it
   */
  void begin(Incarnation life, Runnable taken, Consumer<Exception> refused) {
    incarnation = life;
    EventRecord opening =
        EventRecord.opening(
            registration.table(),
            StreamId.of(registration.publisher()),
            registration.type(),
            traits(),
            life,
            retelling.unfinished() != null);
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

  /** Reads a batch, whatever its payload does to a decoder; learns nothing from it. */
  Parsed parse(RawBatch batch) {
    try {
      return prepare().parse(batch.topic(), batch.payload());
    } catch (RuntimeException e) {
      return new BatchDecoder.Rejected(failed(batch, e));
    }
  }

  private Decoded normalise(RawBatch batch, Parsed parsed) {
    try {
      return parsed.toNormalForm();
    } catch (RuntimeException e) {
      return Decoded.rejected(failed(batch, e));
    }
  }

  /** Its sequence counts all the same, and the stream goes on. */
  private String failed(RawBatch batch, RuntimeException e) {
    if (errors.allows()) {
      LOG.error(
          "BUG: publisher={} sequence={} can not be decoded",
          registration.publisher(),
          Long.toUnsignedString(batch.sequence()),
          e);
    }
    return "decoder_failed";
  }

  /**
   * Sends what the batch holds.
   *
   * @param fingerprint of its payload
   * @param parsed the same batch, read
   * @param after sequence of the record before it on this stream, null = none in this life
   * @param gap what is missing before it, null = nothing
   */
  void publish(
      RawBatch batch,
      long fingerprint,
      Parsed parsed,
      @Nullable Long after,
      KvEvent.@Nullable Gap gap,
      SendSession session) {
    if (gap != null) {
      learned.lost();
    }
    Decoded decoded = normalise(batch, parsed);
    if (decoded.doubtful() || decoded.rejected() != null) {
      learned.lost();
    }
    List<KvEvent> events = new ArrayList<>(decoded.events().size() + 1);
    if (gap != null) {
      add(gap, events);
    }
    String rejected = decoded.rejected();
    BatchRecords records =
        new BatchRecords(
            registration,
            traits(),
            incarnation,
            splitter,
            batch.sequence(),
            after,
            decoded.sourceMicros());
    if (rejected != null) {
      quarantine(batch, rejected);
      add(doubt(batch), events);
      endRetelling(batch, after, events);
      records.whole(events);
    } else if (isNumbered()) {
      Decoded fresh = FreshNumbers.fresh(decoded, session, registration.publisher().key().length());
      noteDecoded(batch, fresh, events);
      endRetelling(batch, after, events);
      records.numbered(events, fresh, session);
      events.addAll(fresh.events());
    } else {
      events.addAll(decoded.events());
      noteDecoded(batch, decoded, events);
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
    BatchMark mark = new BatchMark(fingerprint, toldMore ? learned.groups() : null);
    sink.send(session, records.all(), records.ids(), batch.receivedMicros(), clears, mark);
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

  private void noteDecoded(RawBatch batch, Decoded decoded, List<KvEvent> events) {
    decoded.skipped().forEach(status::skipped);
    decoded.remarks().forEach(status::remarked);
    status.mismatched(decoded.mismatch() != null, decoded.mismatch());
    if (decoded.notice() != null) {
      status.problem(decoded.notice());
    }
    if (!isNumbered() && decoded.events().stream().anyMatch(KvEvent.Cleared.class::isInstance)) {
      status.cleared(); // a stream's clear leaves the others as they were
    }
    if (decoded.doubtful()) {
      status.unreadable(
          "batch "
              + Long.toUnsignedString(batch.sequence())
              + " holds an unreadable event, which may have taken blocks away");
      add(doubt(batch), events);
    }
    status.outcome(FrameOutcome.APPLIED, 1);
  }

  private void endRetelling(RawBatch batch, @Nullable Long after, List<KvEvent> events) {
    if (retelling.endsWith(batch.sequence(), after)) {
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

  private void quarantine(RawBatch batch, String reason) {
    metrics.rejected(reason);
    status.outcome(FrameOutcome.QUARANTINED, 1);
    status.unreadable(
        "batch " + Long.toUnsignedString(batch.sequence()) + " is in quarantine: " + reason);
    byte[] payload = batch.payload();
    sink.quarantine(
        registration.publisher(),
        new QuarantinedFrame(
            incarnation,
            batch.sequence(),
            batch.receivedMicros(),
            reason,
            payload.length,
            payload));
  }
}
