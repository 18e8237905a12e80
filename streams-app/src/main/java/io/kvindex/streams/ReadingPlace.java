// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.topology.TaskPlace;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where stream threads read the log on when a task begins: at what was committed with its rows.
 *
 * <p>Kafka Streams 4.3.1 sees to that as well, but for one case: an active task whose rows are
 * thrown away while it runs is made again, and remembers that its partition has to be read again
 * from there. If a rebalance comes before it is initialised, which it asks for itself, it is closed
 * and another one made that does not know ({@code TaskManager.handleTasksPendingInitialization}).
 * What was fetched for the first one would never be read again. Thread-safe.
 */
final class ReadingPlace {

  private static final Logger LOG = LoggerFactory.getLogger(ReadingPlace.class);

  private final Counter again;

  ReadingPlace(MeterRegistry metrics) {
    again =
        Counter.builder("kvindex.log.records.again")
            .description("records that were fetched for a task that ended before it took them")
            .register(metrics);
  }

  /**
   * To be called by a stream thread before its task takes the first record of a partition. Never
   * waits.
   *
   * <p>What was committed and is not in the rows is read again: records nothing came of, which is
   * harmless, or ones whose rows the changelog has lost, with its last ones or as a whole.
   *
   * @param committed where that was last, null = nothing was committed yet
   * @param applied offset of the newest record the rows have something of, -1 = none
   */
  TaskPlace.Start toCommitted(
      Consumer<byte[], byte[]> consumer,
      TopicPartition partition,
      @Nullable OffsetAndMetadata committed,
      long applied) {
    if (committed == null) {
      consumer.seekToBeginning(List.of(partition));
      return new TaskPlace.Start(TaskPlace.ANYWHERE.first(), applied < 0 ? applied : applied + 1);
    }
    long position = position(consumer, partition);
    if (position > committed.offset()) {
      LOG.warn(
          "{} is read on at {}, where its rows are, not at {}",
          partition,
          committed.offset(),
          position);
      again.increment(position - committed.offset());
    }
    if (isGiven(committed) || applied + 1 >= committed.offset()) {
      consumer.seek(partition, committed);
      return TaskPlace.Start.at(committed.offset());
    }
    LOG.info(
        "{} is read again from {} to {}: its rows have nothing of that",
        partition,
        applied + 1,
        committed.offset());
    consumer.seek(partition, applied + 1);
    return TaskPlace.Start.at(applied + 1);
  }

  /**
   * Kafka Streams' commits carry metadata; a place that a rebuild was told to begin at does not.
   */
  private static boolean isGiven(OffsetAndMetadata committed) {
    return committed.metadata().isEmpty();
  }

  private static long position(Consumer<byte[], byte[]> consumer, TopicPartition partition) {
    try {
      return consumer.position(partition, Duration.ZERO);
    } catch (TimeoutException e) {
      return -1; // not known yet: nothing was fetched
    }
  }
}
