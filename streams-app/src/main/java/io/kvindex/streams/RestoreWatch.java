// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StandbyUpdateListener;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.TaskId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows how rows come from the changelog, of active tasks that are being restored and of
 * standbys. Told by the threads of Kafka Streams, asked by any.
 */
final class RestoreWatch implements StateRestoreListener, StandbyUpdateListener {

  private static final Logger LOG = LoggerFactory.getLogger(RestoreWatch.class);
  private static final long TELL_EVERY_NS = TimeUnit.SECONDS.toNanos(5);

  /**
   * How far a partition's changelog was read.
   *
   * @param start offset it was begun at
   * @param position offset behind the last row
   * @param end of the changelog as last heard of
   */
  record Reading(
      boolean standby, long start, long position, long end, long startedNs, long toldNs) {

    private Reading at(long newPosition, long newEnd) {
      return new Reading(standby, start, newPosition, newEnd, startedNs, toldNs);
    }

    private Reading told(long nowNs) {
      return new Reading(standby, start, position, end, startedNs, nowNs);
    }

    PartitionProgress progress() {
      long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNs);
      long done = Math.max(0, position - start);
      return new PartitionProgress(
          PartitionProgress.Phase.RESTORING,
          done,
          Math.max(done, end - start),
          ms < 100 ? 0 : done * 1_000 / ms);
    }
  }

  private final Map<Integer, Reading> readings = new ConcurrentHashMap<>();
  private final Counter rows;
  private final Ahead ahead;

  /** Is told of rows that can not have come from their changelog, before anybody uses them. */
  interface Ahead {
    /**
     * @param next offset of the changelog behind the last row
     * @param end where the changelog ends, before that
     */
    void of(int partition, long next, long end);
  }

  RestoreWatch(MeterRegistry metrics, Ahead ahead) {
    this.ahead = ahead;
    rows =
        Counter.builder("kvindex.restore.rows")
            .description("rows read from the changelog")
            .register(metrics);
  }

  /** How far the changelog was read here, null = it was not. */
  @Nullable Reading reading(int partition) {
    return readings.get(partition);
  }

  /** The partition is not here any more. */
  private void forget(TopicPartition changelog) {
    readings.remove(changelog.partition());
  }

  @Override
  public void onRestoreStart(TopicPartition changelog, String store, long start, long end) {
    begin(changelog, false, start, end);
    if (start > end) {
      // Kafka Streams takes them for restored; a standby's next read would fail instead.
      ahead.of(changelog.partition(), start, end);
    }
    if (end > start) {
      LOG.info("restoring partition={} rows={}", changelog.partition(), end - start);
    }
  }

  @Override
  public void onBatchRestored(
      TopicPartition changelog, String store, long batchEnd, long restored) {
    advance(changelog, batchEnd, -1, restored);
  }

  @Override
  public void onRestoreEnd(TopicPartition changelog, String store, long restored) {
    Reading done = readings.get(changelog.partition());
    if (done != null && restored > 0) {
      LOG.info(
          "restored partition={} rows={} ms={}",
          changelog.partition(),
          restored,
          (System.nanoTime() - done.startedNs()) / 1_000_000);
    }
    forget(changelog);
  }

  @Override
  public void onRestoreSuspended(TopicPartition changelog, String store, long restored) {
    forget(changelog);
  }

  @Override
  public void onUpdateStart(TopicPartition changelog, String store, long start) {
    begin(changelog, true, start, start);
  }

  @Override
  public void onBatchLoaded(
      TopicPartition changelog,
      String store,
      TaskId task,
      long batchEnd,
      long loaded,
      long currentEnd) {
    advance(changelog, batchEnd, currentEnd, loaded);
  }

  @Override
  public void onUpdateSuspended(
      TopicPartition changelog,
      String store,
      long position,
      long currentEnd,
      SuspendReason reason) {
    forget(changelog);
  }

  private void begin(TopicPartition changelog, boolean standby, long start, long end) {
    long now = System.nanoTime();
    readings.put(changelog.partition(), new Reading(standby, start, start, end, now, now));
  }

  private void advance(TopicPartition changelog, long batchEnd, long end, long count) {
    rows.increment(count);
    readings.computeIfPresent(
        changelog.partition(),
        (partition, before) -> {
          Reading now =
              before.at(batchEnd + 1, Math.max(before.end(), Math.max(end, batchEnd + 1)));
          return tell(partition, now);
        });
  }

  /** A standby goes on for ever: what is worth a line is its way to the end. */
  private static Reading tell(int partition, Reading reading) {
    long now = System.nanoTime();
    boolean near = reading.end() - reading.position() < 10_000;
    if (now - reading.toldNs() < TELL_EVERY_NS || (reading.standby() && near)) {
      return reading;
    }
    LOG.info("partition={} {}", partition, reading.progress().text());
    return reading.told(now);
  }
}
