// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.model.Clock;
import io.kvindex.model.event.BatchTrace;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * How long traced batches take from a bridge's producer to the answers. All others cost a look at
 * their headers. Reads the wall clock, for these figures and nothing else. Thread-safe.
 */
final class Stages {

  /** Added to a traced record here, in memory; the log has none. */
  private static final String FETCHED = "fetched";

  private final Timer fetch;
  private final Timer queue;
  private final Timer fold;
  private final Timer visible;

  Stages(MeterRegistry registry) {
    fetch = stage(registry, "fetch");
    queue = stage(registry, "queue");
    fold = stage(registry, "fold");
    visible = stage(registry, "visible");
  }

  private static Timer stage(MeterRegistry registry, String stage) {
    return Timer.builder("kvindex.stage")
        .description(BatchTrace.METRIC_DESCRIPTION)
        .tag("stage", stage)
        .serviceLevelObjectives(BatchTrace.bucketEdges())
        .register(registry);
  }

  /**
   * Notes with the traced ones of these records that they have just been fetched. Kafka Streams
   * keeps them in queues of its own next, and hands their headers on.
   *
   * @return the same
   */
  static ConsumerRecords<byte[], byte[]> fetched(ConsumerRecords<byte[], byte[]> records) {
    byte @Nullable [] now = null;
    for (ConsumerRecord<byte[], byte[]> record : records) {
      if (BatchTrace.of(record.headers()) != null) {
        if (now == null) {
          now = ByteBuffer.allocate(Long.BYTES).putLong(Clock.micros()).array();
        }
        record.headers().add(FETCHED, now);
      }
    }
    return records;
  }

  /**
   * The fold of a record begins.
   *
   * @param sinceMicros what was given to the producer before is not measured: it waited for nobody
   *     but whoever was away
   * @return when, 0 = it is not traced
   */
  static long begins(Headers headers, long sinceMicros) {
    BatchTrace trace = BatchTrace.of(headers);
    return trace == null || trace.producedMicros() < sinceMicros ? 0 : Clock.micros();
  }

  /**
   * Queries find what the record says.
   *
   * @param beginsMicros when its fold began
   */
  void visible(Headers headers, long beginsMicros) {
    BatchTrace trace = BatchTrace.of(headers);
    Header fetched = headers.lastHeader(FETCHED);
    if (trace == null || fetched == null) {
      return;
    }
    long fetchedMicros = ByteBuffer.wrap(fetched.value()).getLong();
    long now = Clock.micros();
    between(trace.producedMicros(), fetchedMicros, fetch);
    between(fetchedMicros, beginsMicros, queue);
    between(beginsMicros, now, fold);
    between(trace.readMicros(), now, visible);
  }

  /** The other machine's clock may be ahead. */
  private static void between(long micros, long laterMicros, Timer stage) {
    stage.record(Math.max(0, laterMicros - micros), TimeUnit.MICROSECONDS);
  }
}
