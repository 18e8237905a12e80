// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.registration.Generations.Placed;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.site.SiteRecord;
import io.kvindex.model.topic.Topics;
import io.kvindex.model.topic.follow.RecordSink;
import io.kvindex.model.topic.follow.TopicFollower;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This replica's view of the registrations topic. Reading it is free and safe for all threads. */
public final class RegistrationTable implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegistrationTable.class);

  /** Why nothing can be answered yet. */
  public static final String UNREAD = "registrations are still being read from Kafka";

  private final Media media;
  private final Generations generations;
  private final Supplier<Map<PublisherId, Long>> unconnected;
  private final BooleanSupplier connectionsKnown;
  private final Counter unreadable;
  private final OncePerMinute warnings = new OncePerMinute();
  private final TopicFollower follower;
  private volatile RegistrationSnapshot snapshot = RegistrationSnapshot.EMPTY;

  /**
   * Starts to follow the topic.
   *
   * @param clientConfig Kafka client settings, at least {@code bootstrap.servers}
   * @param media how owners' media are counted in answers
   * @param generations of the site's epoch
   * @param unconnected publishers without a connection they can be trusted by, with the generation
   *     of their registration; the same object until they change
   * @param connectionsKnown whether {@code unconnected} has all that was said before we started
   */
  public RegistrationTable(
      Map<String, Object> clientConfig,
      Media media,
      Generations generations,
      Supplier<Map<PublisherId, Long>> unconnected,
      BooleanSupplier connectionsKnown,
      MeterRegistry registry) {
    this.media = media;
    this.unconnected = unconnected;
    this.connectionsKnown = connectionsKnown;
    this.generations = generations;
    unreadable =
        Counter.builder("kvindex.registrations.unreadable")
            .description("Records of the registrations topic that could not be read")
            .register(registry);
    Gauge.builder("kvindex.registrations", () -> snapshot.size())
        .description("Registrations this replica sees")
        .register(registry);
    follower = TopicFollower.start(clientConfig, Topics.REGISTRATIONS, new Sink());
  }

  /**
   * The newest view, for answers to clients.
   *
   * @throws ApiException (503) until everything registered before we started is visible: whoever is
   *     not would be missing from the answer, or who is not connected would be, and nothing would
   *     say so
   */
  public RegistrationSnapshot whole() {
    if (!caughtUp()) {
      throw ErrorCode.NOT_READY.because(UNREAD + "; try again");
    }
    return snapshot;
  }

  /** The newest view, which lacks what was registered before until {@link #caughtUp}. */
  public RegistrationSnapshot snapshot() {
    return snapshot;
  }

  /** Whether everything registered before we started is visible, and who is not connected. */
  public boolean caughtUp() {
    return follower.caughtUp() && connectionsKnown.getAsBoolean();
  }

  /** Waits until all that is registered anywhere is visible here; false past the deadline. */
  boolean refresh(long deadlineNanos) throws InterruptedException {
    return follower.refresh(deadlineNanos);
  }

  /** Waits until the record at that offset is visible here; false past the deadline. */
  boolean awaitOffset(int partition, long offset, long deadlineNanos) throws InterruptedException {
    return follower.awaitOffset(partition, offset, deadlineNanos);
  }

  @Override
  public void close() {
    follower.close();
  }

  /** Builds the next snapshot from a poll's records; runs in the follower's thread. */
  private final class Sink implements RecordSink {
    private NavigableMap<PublisherId, Registered> next = RegistrationSnapshot.EMPTY.copy();

    /** Of the newest record of those that are registered. */
    private final Map<PublisherId, Long> offsets = new HashMap<>();

    /** Unregistered in what was there at the start; empty once that is read. */
    private final Set<PublisherId> ended = new HashSet<>();

    private boolean loaded;

    @Override
    public void apply(ConsumerRecord<byte[], byte[]> record) {
      if (SiteRecord.isKey(record.key())) {
        return;
      }
      try {
        PublisherId publisher = PublisherId.parse(new String(record.key(), StandardCharsets.UTF_8));
        if (record.value() == null) {
          next.remove(publisher);
          offsets.remove(publisher);
          if (!loaded) {
            ended.add(publisher);
          }
        } else {
          Registration registration = RegistrationCodec.decode(record.value());
          Registered registered =
              new Registered(registration, generation(publisher, registration, record.offset()));
          next.put(publisher, registered);
          offsets.put(publisher, record.offset());
        }
      } catch (MalformedRecordException | IllegalArgumentException | NullPointerException e) {
        unreadable.increment();
        if (warnings.allows()) {
          LOG.warn(
              "skipped an unreadable registration, partition={} offset={}: {}",
              record.partition(),
              record.offset(),
              e.toString());
        }
      }
    }

    private long generation(PublisherId publisher, Registration registration, long offset) {
      Registered before = next.get(publisher);
      Long at = offsets.get(publisher);
      if (before != null && at != null) {
        return generations.of(registration, offset, new Placed(at, before.generation()));
      }
      return loaded || ended.contains(publisher)
          ? generations.of(registration, offset, null)
          : generations.ofFirst(registration, offset);
    }

    @Override
    public void caughtUp() {
      loaded = true;
      ended.clear();
    }

    @Override
    public void publish() {
      snapshot = new RegistrationSnapshot(next, media, unconnected);
      next = snapshot.copy();
    }
  }
}
