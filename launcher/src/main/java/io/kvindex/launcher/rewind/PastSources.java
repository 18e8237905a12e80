// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.model.site.SiteRecord;
import io.kvindex.model.topic.Topics;
import io.kvindex.model.topic.follow.TopicFollower;
import io.kvindex.query.registration.Registered;
import io.kvindex.streams.fold.Sequencer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Who was registered at a moment, as far as it can be told: the registrations topic has the newest
 * record of each publisher only. Those that have stood since before that moment count as they are.
 * Of the others, who had spoken in the log and was not unregistered by then is taken for registered
 * with the defaults of its type. For one thread.
 */
final class PastSources {

  private static final String NO_ENDPOINT = "";
  private static final Duration READ_WITHIN = Duration.ofSeconds(30);

  private final Instant when;
  private final LeftOut leftOut;
  private final Map<PublisherId, Registered> standing = new TreeMap<>();
  private final Map<PublisherId, Registered> heard = new TreeMap<>();

  /** Where those were unregistered that are not registered. */
  private final Map<PublisherId, Long> ended = new HashMap<>();

  /** The newest life the log has shown of each. */
  private final Map<PublisherId, Incarnation> lives = new HashMap<>();

  /**
   * @param leftOut takes what can not be read
   */
  PastSources(Instant when, LeftOut leftOut) {
    this.when = when;
    this.leftOut = leftOut;
  }

  /**
   * Reads the registrations topic.
   *
   * @param kafka settings of all Kafka clients
   * @throws IllegalStateException if that takes longer than 30 s
   */
  void read(Map<String, Object> kafka) throws InterruptedException {
    try (TopicFollower registrations =
        TopicFollower.start(kafka, Topics.REGISTRATIONS, this::take)) {
      if (!registrations.refresh(System.nanoTime() + READ_WITHIN.toNanos())) {
        throw new IllegalStateException(Topics.REGISTRATIONS + " is silent");
      }
    }
  }

  /** Takes a record of the registrations topic. */
  void take(ConsumerRecord<byte[], byte[]> record) {
    if (SiteRecord.isKey(record.key()) || record.timestamp() > when.toEpochMilli()) {
      return;
    }
    if (record.value() == null) {
      unregistered(record);
      return;
    }
    try {
      Registration one = RegistrationCodec.decode(record.value());
      standing.put(one.publisher(), new Registered(one, record.offset()));
      ended.remove(one.publisher());
    } catch (MalformedRecordException e) {
      leftOut.add(LeftOut.Reason.MALFORMED, record, e.getMessage());
    }
  }

  private void unregistered(ConsumerRecord<byte[], byte[]> record) {
    try {
      String key = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
      PublisherId publisher = PublisherId.parse(key);
      standing.remove(publisher);
      ended.put(publisher, record.offset());
    } catch (IllegalArgumentException e) {
      leftOut.add(LeftOut.Reason.NO_PUBLISHER, record, e.getMessage());
    }
  }

  /** Block sizes those that stand are registered with for a model, in order. */
  List<Integer> blockSizes(String tenant, String model) {
    TreeSet<Integer> sizes = new TreeSet<>();
    standing.values().stream()
        .map(one -> one.registration().table())
        .filter(table -> table.tenantId().equals(tenant) && table.model().equals(model))
        .forEach(table -> sizes.add(table.blockSize()));
    return List.copyOf(sizes);
  }

  /** Takes a record of the table asked about. */
  void hear(EventRecord record) {
    PublisherId publisher = record.stream().publisher();
    Incarnation newest = lives.getOrDefault(publisher, Incarnation.NONE);
    if (Sequencer.compareLives(record.incarnation(), newest) < 0) {
      return; // the table does not take it either
    }
    lives.put(publisher, record.incarnation());
    if (record.events().stream().anyMatch(KvEvent.Retired.class::isInstance)) {
      heard.remove(publisher);
      return;
    }
    Registered known = heard.get(publisher);
    if (known == null || known.generation() < record.incarnation().generation()) {
      Registration likely =
          new Registration(
              publisher,
              NO_ENDPOINT,
              null,
              record.type(),
              record.table(),
              List.of(""),
              null,
              SourceOptions.defaultFor(record.type()),
              null);
      heard.put(publisher, new Registered(likely, record.incarnation().generation()));
    }
  }

  /** All of them. */
  List<Registered> all() {
    Map<PublisherId, Registered> all = new TreeMap<>(heard);
    // Their last words may come later, if no bridge ran; answers had them no more from then on.
    ended.forEach(
        (publisher, offset) -> {
          Registered one = all.get(publisher);
          if (one != null && one.generation() < offset) {
            all.remove(publisher);
          }
        });
    all.putAll(standing);
    return new ArrayList<>(all.values());
  }
}
