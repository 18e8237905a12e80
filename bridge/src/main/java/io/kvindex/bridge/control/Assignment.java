// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.registration.Generations.Placed;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.site.SiteRecord;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A partition of the registrations topic assigned to this bridge, while it is read to its end. */
final class Assignment {

  private static final Logger LOG = LoggerFactory.getLogger(Assignment.class);

  /**
   * A record of the topic.
   *
   * @param registration null = the publisher was unregistered
   */
  record Entry(PublisherId publisher, long offset, @Nullable Registration registration) {}

  /**
   * The newest record of a publisher.
   *
   * @param generation what the topic alone says; of a publisher that was unregistered the
   *     generation that ends it
   */
  record Newest(Entry entry, long generation) {}

  final int partition;

  /** Newest record of each publisher; empty once loaded. */
  final Map<PublisherId, Newest> newest = new LinkedHashMap<>();

  boolean loaded;

  Assignment(int partition) {
    this.partition = partition;
  }

  /** Takes a record that is read before the partition's end is reached. */
  void note(Entry entry, Generations generations) {
    newest.compute(
        entry.publisher(),
        (publisher, before) -> new Newest(entry, generation(before, entry, generations)));
  }

  private static long generation(@Nullable Newest before, Entry entry, Generations generations) {
    Registration registration = entry.registration();
    if (registration == null) {
      return generations.at(entry.offset());
    } else if (before == null) {
      return generations.ofFirst(registration, entry.offset());
    }
    boolean replaces = before.entry().registration() != null;
    return generations.of(
        registration,
        entry.offset(),
        replaces ? new Placed(before.entry().offset(), before.generation()) : null);
  }

  /** Reads a record; null if it is none of ours. */
  static @Nullable Entry read(ConsumerRecord<byte[], byte[]> record) {
    if (SiteRecord.isKey(record.key())) {
      return null;
    }
    try {
      PublisherId publisher = PublisherId.parse(new String(record.key(), StandardCharsets.UTF_8));
      byte[] value = record.value();
      return new Entry(
          publisher, record.offset(), value == null ? null : RegistrationCodec.decode(value));
    } catch (MalformedRecordException | IllegalArgumentException e) {
      LOG.warn(
          "registration partition={} offset={} is ignored: {}",
          record.partition(),
          record.offset(),
          e.getMessage());
      return null;
    }
  }
}
