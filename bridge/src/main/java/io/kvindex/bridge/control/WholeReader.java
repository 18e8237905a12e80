// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/** Reads partitions from their beginning to the end they have now. Control thread only. */
final class WholeReader implements AutoCloseable {

  private static final Duration POLL = Duration.ofMillis(100);

  private final Consumer<byte[], byte[]> consumer;
  private final Duration timeout;
  private final Lease lease;

  /**
   * @param consumer without a group, closed with this object; others use it, too, and assign it
   *     anew
   * @param timeout longest time a read may take
   * @param lease kept alive meanwhile
   */
  WholeReader(Consumer<byte[], byte[]> consumer, Duration timeout, Lease lease) {
    this.consumer = consumer;
    this.timeout = timeout;
    this.lease = lease;
  }

  /**
   * Hands over all records, each partition's in order.
   *
   * @return the ends read up to
   * @throws TimeoutException if that takes longer than the timeout
   */
  Map<TopicPartition, Long> read(
      Collection<TopicPartition> sources,
      java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> to) {
    consumer.assign(sources);
    consumer.seekToBeginning(sources);
    Map<TopicPartition, Long> ends = consumer.endOffsets(sources, lease.call());
    long deadline = System.nanoTime() + timeout.toNanos();
    while (!isRead(ends)) {
      lease.renew();
      if (System.nanoTime() - deadline > 0) {
        throw new TimeoutException(
            sources + " were not read to their end in " + timeout.toSeconds() + " s");
      }
      consumer.poll(POLL).forEach(to);
    }
    return ends;
  }

  private boolean isRead(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> consumer.position(end.getKey(), lease.call()) >= end.getValue());
  }

  @Override
  public void close() {
    consumer.close();
  }
}
