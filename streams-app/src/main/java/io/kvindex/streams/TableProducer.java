// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.topology.CommitTime;
import io.kvindex.streams.topology.TablesOfThread;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a table's rows. Where the coordinator has ended a transaction that took too long, as it
 * does after an outage, a stream thread should begin anew with its tables. Kafka Streams does so
 * when the producer is said to be fenced, but dies of {@link InvalidTxnStateException}, and as its
 * place in the group stays taken, all members would wait for the session to end (StreamsProducer,
 * RecordCollectorImpl, Kafka 4.3.1). The same is said where {@link TornRows} says that what was
 * written before must not be committed to.
 */
final class TableProducer extends KafkaProducer<byte[], byte[]> {

  private static final Logger LOG = LoggerFactory.getLogger(TableProducer.class);

  /** How Kafka puts it where it gives no cause (TransactionManager, TxnOffsetCommit). */
  private static final String ENDED = "attempted a transactional operation in an invalid state";

  private final Runnable counted;
  private final Runnable countedTorn;
  private final TornRows rows = new TornRows();
  private final WrittenRows written = new WrittenRows();
  private final AtomicBoolean isEnded = new AtomicBoolean();

  /**
   * @param config as Kafka Streams gives it
   * @param counted told once if a transaction of this producer was ended by its coordinator
   * @param countedTorn told if a transaction is refused for {@link TornRows}
   */
  TableProducer(Map<String, Object> config, Runnable counted, Runnable countedTorn) {
    super(config, new ByteArraySerializer(), new ByteArraySerializer());
    this.counted = counted;
    this.countedTorn = countedTorn;
  }

  /** A task begins, with the rows of the changelog. For the thread that sends. */
  void taskBegins(int partition) {
    rows.begins(partition);
    written.begins(partition);
  }

  @Override
  public Future<RecordMetadata> send(
      ProducerRecord<byte[], byte[]> row, @Nullable Callback callback) {
    rows.wrote(Objects.requireNonNull(row.partition(), "a row is of a partition"));
    try {
      return super.send(row, told(written.of(row), callback));
    } catch (KafkaException e) {
      // What a call is refused for stands inside, and Kafka Streams looks for it there.
      throw isEnded(e) ? new KafkaException(e.getMessage(), fenced(e)) : e;
    }
  }

  private Callback told(WrittenRows.End changelog, @Nullable Callback callback) {
    return (metadata, failure) -> {
      if (failure == null) {
        changelog.taken(metadata.offset());
      }
      if (callback != null) {
        callback.onCompletion(
            metadata, failure != null && isEnded(failure) ? fenced(failure) : failure);
      }
    };
  }

  @Override
  public void beginTransaction() {
    CommitTime.ofThisThread().isNone();
    translated(super::beginTransaction);
  }

  /** Kafka Streams waits for all rows first when it commits, and at no other time. */
  @Override
  public void flush() {
    CommitTime.ofThisThread().begins();
    super.flush();
  }

  @Override
  public void sendOffsetsToTransaction(
      Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
    if (rows.any(offsets.keySet())) {
      countedTorn.run();
      LOG.warn(
          "rows of {} were given up together with those of another partition: all tables of this"
              + " thread begin anew where the last transaction left them",
          offsets.keySet());
      throw new InvalidProducerEpochException("rows of an aborted transaction are in no changelog");
    }
    translated(() -> super.sendOffsetsToTransaction(offsets, group));
  }

  @Override
  public void commitTransaction() {
    try {
      translated(super::commitTransaction);
    } finally {
      CommitTime.ofThisThread().ends();
    }
    rows.committed();
    TablesOfThread.current().committed(written.committed());
  }

  @Override
  public void abortTransaction() {
    rows.aborted();
    written.aborted();
    try {
      translated(super::abortTransaction);
    } finally {
      CommitTime.ofThisThread().ends();
    }
  }

  private void translated(Runnable call) {
    try {
      call.run();
    } catch (KafkaException e) {
      throw isEnded(e) ? fenced(e) : e;
    }
  }

  /** Whether the coordinator has ended the transaction, as far as a failure says so. */
  static boolean isEnded(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String text = cause.getMessage();
      if (cause instanceof InvalidTxnStateException
          || cause instanceof KafkaException && text != null && text.contains(ENDED)) {
        return true;
      }
    }
    return false;
  }

  private InvalidProducerEpochException fenced(Throwable failure) {
    if (isEnded.compareAndSet(false, true)) {
      counted.run();
      LOG.warn(
          "Kafka ended a transaction that took too long, as after an outage: its tables begin anew"
              + " where the last one left them");
    }
    InvalidProducerEpochException fenced =
        new InvalidProducerEpochException(
            "the coordinator has ended this transaction: " + failure.getMessage());
    fenced.initCause(failure);
    return fenced;
  }
}
