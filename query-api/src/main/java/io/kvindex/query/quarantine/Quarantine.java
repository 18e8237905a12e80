// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * The quarantined batches, and how a publisher gets rid of them: its next life is claimed in the
 * progress topic, as at a restart. The bridge that follows it sees a life beyond its own, claims
 * another one, which hides all that the publisher announced, and reads its replay from 0 with the
 * decoders it has now. So nothing old is ever appended behind what is newer. Thread-safe.
 */
final class Quarantine {

  private final QuarantineLog log;
  private final Map<String, Object> kafka;
  private final Duration timeout;
  private final Supplier<RegistrationSnapshot> registrations;
  private final Function<PublisherId, @Nullable BridgeProgress> progress;
  private final FrameReader reader;

  Quarantine(
      Map<String, Object> kafka,
      Duration timeout,
      Supplier<RegistrationSnapshot> registrations,
      Function<PublisherId, @Nullable BridgeProgress> progress,
      FrameReader reader) {
    this.log = new QuarantineLog(kafka, timeout);
    this.kafka = kafka;
    this.timeout = timeout;
    this.registrations = registrations;
    this.progress = progress;
    this.reader = reader;
  }

  /**
   * A quarantined batch and what can be said of it now.
   *
   * @param frame the batch without its bytes
   * @param current whether it is of the life its publisher is in: only then anything is missing
   * @param readable whether it can be decoded now, null = its bytes are not kept, or nobody is
   *     registered who could have sent it
   */
  record Entry(
      PublisherId publisher, QuarantinedFrame frame, boolean current, @Nullable Boolean readable) {}

  /** The newest batches of the publishers asked for, newest last. */
  List<Entry> list(Predicate<PublisherId> which, int limit) {
    List<Entry> newest = new ArrayList<>();
    log.readNewest(which, limit, (publisher, frame) -> newest.add(entry(publisher, frame)));
    return newest;
  }

  private Entry entry(PublisherId publisher, QuarantinedFrame frame) {
    Registered registered = registrations.get().get(publisher);
    boolean current = Tally.isCurrent(registered, progress.apply(publisher), frame.incarnation());
    byte[] payload = frame.payload();
    Boolean readable =
        registered == null || !frame.isKept()
            ? null
            : Boolean.valueOf(reader.problem(registered.registration(), payload) == null);
    return new Entry(publisher, frame.withoutPayload(), current, readable);
  }

  /**
   * Whether its publisher is rebuilt.
   *
   * @param frames batches of its present life in quarantine
   * @param readable whether one of them can be decoded now
   * @param note what is done, or why nothing, for people
   */
  record Retried(
      PublisherId publisher, long frames, boolean readable, boolean rebuilding, String note) {}

  /**
   * Rebuilds the publishers asked for of which something can be decoded now and whose engine can be
   * asked for the rest: without a replay all that they announced would go and nothing come back.
   *
   * @param force rebuilds the others with something in quarantine too: the engine may have whole
   *     what was damaged on its way, and of one without a replay a quarantined batch may count for
   *     more than what is known
   */
  List<Retried> retry(Predicate<PublisherId> which, boolean force) throws InterruptedException {
    Map<PublisherId, Tally> tallies = new LinkedHashMap<>();
    for (Registered one : registrations.get().all()) {
      PublisherId publisher = one.registration().publisher();
      if (which.test(publisher)) {
        tallies.put(publisher, new Tally(one, progress.apply(publisher), reader));
      }
    }
    log.readAll(
        tallies::containsKey,
        (publisher, frame) -> Objects.requireNonNull(tallies.get(publisher)).add(frame));
    List<Retried> retried = new ArrayList<>();
    for (Tally tally : tallies.values()) {
      boolean rebuild = force ? tally.frames > 0 : tally.readable && canReplay(tally);
      if (rebuild) {
        claim(tally.registered);
      }
      retried.add(
          new Retried(
              tally.registered.registration().publisher(),
              tally.frames,
              tally.readable,
              rebuild,
              note(tally, rebuild)));
    }
    return retried;
  }

  private static boolean canReplay(Tally tally) {
    return tally.registered.registration().replayEndpoint() != null;
  }

  private static String note(Tally tally, boolean rebuild) {
    if (tally.frames == 0) {
      return "nothing in quarantine";
    } else if (!canReplay(tally)) {
      return rebuild
          ? "no replay_endpoint: what it announced is hidden, and only new events are learnt"
          : "no replay_endpoint to rebuild from; --force hides what it announced and goes on with"
              + " new events only";
    } else if (rebuild) {
      return "rebuilt from the engine's replay; stays degraded if that does not reach back to batch 0";
    }
    return "still not readable; --force rebuilds from the engine's replay all the same";
  }

  private void claim(Registered one) throws InterruptedException {
    BridgeProgress claim = BridgeProgress.claim(one.registration(), one.generation(), null);
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            ClientKind.PRODUCER.settings(kafka, Map.of()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      // By key it meets the partition its registration is in, which says where the progress goes.
      producer
          .send(
              new ProducerRecord<>(
                  Topics.BRIDGE_PROGRESS,
                  claim.publisher().key().getBytes(StandardCharsets.UTF_8),
                  BridgeProgressCodec.encode(claim)))
          .get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException | KafkaException e) {
      throw ErrorCode.NOT_READY.because(
          "the rebuild of " + claim.publisher() + " could not be stored: " + e);
    }
  }

  /** What a publisher's present life has in quarantine, counted in one pass. One thread. */
  private static final class Tally {

    private final Registered registered;
    private final @Nullable BridgeProgress heard;
    private final FrameReader reader;
    private long frames;
    private boolean readable;

    /**
     * @param heard newest progress of the publisher, null = none
     */
    Tally(Registered registered, @Nullable BridgeProgress heard, FrameReader reader) {
      this.registered = registered;
      this.heard = heard;
      this.reader = reader;
    }

    /** Whether a batch is of the life its publisher is in: only then anything is missing. */
    static boolean isCurrent(
        @Nullable Registered registered, @Nullable BridgeProgress heard, Incarnation of) {
      Long life = heard == null ? null : heard.life();
      return registered != null
          && life != null
          && registered.generation() == of.generation()
          && life == of.life();
    }

    /** Counts a frame; the decoders are tried until they read the first one. */
    void add(QuarantinedFrame frame) {
      if (isCurrent(registered, heard, frame.incarnation())) {
        frames++;
        readable =
            readable
                || frame.isKept()
                    && reader.problem(registered.registration(), frame.payload()) == null;
      }
    }
  }
}
