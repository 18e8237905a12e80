// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.Map;
import java.util.concurrent.Future;
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

/**
 * Writes a table's rows. Where the coordinator has ended a transaction that took too long, as it
 * does after an outage, a stream thread should begin anew with its tables. Kafka Streams does so
 * when the producer is said to be fenced, but dies of {@link InvalidTxnStateException}, and as its
 * place in the group stays taken, all members would wait for the session to end (StreamsProducer,
 * RecordCollectorImpl, Kafka 4.3.1).
 */
final class TableProducer extends KafkaProducer<byte[], byte[]> {

  TableProducer(Map<String, Object> config) {
    super(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public Future<RecordMetadata> send(
      ProducerRecord<byte[], byte[]> row, @Nullable Callback callback) {
    try {
      return super.send(row, callback == null ? null : told(callback));
    } catch (KafkaException e) {
      // What a call is refused for stands inside, and Kafka Streams looks for it there.
      throw isEnded(e) ? new KafkaException(e.getMessage(), fenced(e)) : e;
    }
  }

  @Override
  public void sendOffsetsToTransaction(
      Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
    try {
      super.sendOffsetsToTransaction(offsets, group);
    } catch (KafkaException e) {
      throw isEnded(e) ? fenced(e) : e;
    }
  }

  @Override
  public void commitTransaction() {
    try {
      super.commitTransaction();
    } catch (KafkaException e) {
      throw isEnded(e) ? fenced(e) : e;
    }
  }

  /** The same callback, told what Kafka Streams lives on after. */
  static Callback told(Callback callback) {
    return (metadata, failure) ->
        callback.onCompletion(
            metadata, failure != null && isEnded(failure) ? fenced(failure) : failure);
  }

  /** Whether the coordinator has ended the transaction, as far as a failure says so. */
  static boolean isEnded(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof InvalidTxnStateException) {
        return true;
      }
    }
    return false;
  }

  private static InvalidProducerEpochException fenced(Throwable failure) {
    InvalidProducerEpochException fenced =
        new InvalidProducerEpochException(
            "the coordinator has ended this transaction: " + failure.getMessage());
    fenced.initCause(failure);
    return fenced;
  }
}
