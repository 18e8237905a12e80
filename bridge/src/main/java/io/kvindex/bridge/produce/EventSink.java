// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.model.Clock;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.BatchTrace;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.quarantine.QuarantineCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.topic.Topics;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Sends event records to the partition of their table and keeps account of what is acknowledged.
 * The producer is idempotent, so records of a stream stay in the order they were sent in.
 */
public final class EventSink {

  /** What a record costs beyond its bytes: key, headers, bookkeeping. Rough. */
  private static final int OVERHEAD_BYTES = 128;

  /** Larger frames are quarantined without their bytes: brokers refuse records of 1 MiB. */
  private static final int MAX_QUARANTINED_BYTES = 900_000;

  private final Producer<byte[], byte[]> producer;
  private final boolean rawQuarantine;
  private final SendBudget budget;
  private final BridgeMetrics metrics;
  private final LogEnds ends;

  /**
   * @param producer idempotent; closed by the caller
   * @param partitions partition count of the events topic
   * @param rawQuarantine whether quarantined frames are kept with their bytes, which hold token ids
   */
  public EventSink(
      Producer<byte[], byte[]> producer,
      int partitions,
      boolean rawQuarantine,
      SendBudget budget,
      BridgeMetrics metrics) {
    this.producer = producer;
    this.rawQuarantine = rawQuarantine;
    this.budget = budget;
    this.metrics = metrics;
    this.ends = new LogEnds(partitions);
  }

  /** How far the log is known to reach. */
  public LogEnds ends() {
    return ends;
  }

  /**
   * Sends all records of one batch; the session learns what becomes of them.
   *
   * @param parts one at least; the last one's number is the batch's sequence
   * @param ids last number by stream, of streams other than the publisher's own
   * @param receivedMicros when it was read from its socket
   * @param clears clears of the publisher in it
   * @param mark for whoever takes the publisher over
   * @param traced whether it is one of those whose way is measured
   */
  public void send(
      SendSession session,
      List<EventRecord> parts,
      Map<String, Long> ids,
      long receivedMicros,
      long clears,
      BatchMark mark,
      boolean traced) {
    long decodedMicros = traced ? Clock.micros() : 0;
    EventRecord last = parts.get(parts.size() - 1);
    SendSession.Batch batch =
        new SendSession.Batch(last, receivedMicros, ids, clears, mark.fingerprint(), parts.size());
    session.begin(batch);
    for (EventRecord part : parts) {
      byte[] value = EventRecordCodec.encode(part);
      List<Header> headers = part == last ? mark.headers() : null;
      if (traced && headers != null) {
        BatchTrace trace = new BatchTrace(receivedMicros, decodedMicros, Clock.micros());
        headers.add(trace.header());
        batch.tracedMicros = trace.producedMicros();
        metrics.traced(trace);
      }
      send(
          part,
          value,
          headers,
          (metadata, problem) ->
              settle(session, batch, metadata == null ? -1 : metadata.offset(), problem));
    }
  }

  private void settle(
      SendSession session, SendSession.Batch batch, long offset, @Nullable Exception problem) {
    if (problem != null) {
      metrics.produceError(problem);
      session.failed(problem);
    } else {
      boolean whole = session.partAcked(batch, offset);
      long now = Clock.micros();
      metrics.acknowledged(batch.sourceMicros, now);
      if (whole && batch.tracedMicros > 0) {
        metrics.traceAcknowledged(batch.tracedMicros, now);
      }
    }
  }

  /** A record that stands for itself, outside any session, e.g. a retirement. */
  public void sendAlone(EventRecord record, Callback callback) {
    send(record, EventRecordCodec.encode(record), null, callback);
  }

  private void send(
      EventRecord record, byte[] value, @Nullable List<Header> headers, Callback callback) {
    send(
        new ProducerRecord<>(
            Topics.EVENTS,
            ends.partition(record.table()),
            record.stream().key().getBytes(StandardCharsets.UTF_8),
            value,
            headers),
        value.length,
        callback);
  }

  /** Keeps a frame nobody could decode, with the reason. */
  public void quarantine(PublisherId publisher, QuarantinedFrame frame) {
    boolean raw = rawQuarantine && frame.length() <= MAX_QUARANTINED_BYTES;
    byte[] value = QuarantineCodec.encode(raw ? frame : frame.withoutPayload());
    send(
        new ProducerRecord<>(
            Topics.QUARANTINE, publisher.key().getBytes(StandardCharsets.UTF_8), value),
        value.length,
        (metadata, problem) -> {
          if (problem != null) {
            metrics.produceError(problem);
          }
        });
  }

  private void send(ProducerRecord<byte[], byte[]> record, int length, Callback callback) {
    long cost = length + OVERHEAD_BYTES;
    budget.take(cost);
    try {
      producer.send(
          record,
          (metadata, problem) -> {
            budget.give(cost);
            callback.onCompletion(metadata, problem);
          });
    } catch (RuntimeException e) {
      // Refused at once (closed, full, no metadata): for its sender the same as refused later.
      budget.give(cost);
      callback.onCompletion(null, e);
    }
  }
}
