// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
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

  final int partition;

  /** End of the partition soon after it was assigned; negative until known. */
  long end = -1;

  /** Newest record of each publisher; empty once loaded. */
  final Map<PublisherId, Entry> newest = new LinkedHashMap<>();

  boolean loaded;

  Assignment(int partition) {
    this.partition = partition;
  }

  /** Reads a record; null if it is none of ours. */
  static @Nullable Entry read(ConsumerRecord<byte[], byte[]> record) {
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
