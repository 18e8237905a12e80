// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.model.Clock;
import io.kvindex.model.log.OncePerMinute;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.function.ObjLongConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands a partition's records to its table, each once and in the log's order, from where that table
 * is. Belongs to one task, which Kafka Streams makes again with this very object after a {@link
 * TaskCorruptedException}: within some tens of ms, and to no harm of the thread's other tasks.
 */
final class FoldProcessor implements Processor<byte[], byte[], Void, Void> {

  private static final Logger LOG = LoggerFactory.getLogger(FoldProcessor.class);

  /** A table refused by another thread is noticed so late, on a log that is silent. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final String topic;
  private final ProcessTables tables;
  private final ObjLongConsumer<TopicPartition> seek;
  private final Runnable begins;
  private final OncePerMinute ofMissing = new OncePerMinute();
  private final OncePerMinute ofDoubts = new OncePerMinute();
  private @Nullable ProcessorContext<Void, Void> context;
  private @Nullable FoldedTable table;
  private @Nullable Cancellable looking;
  private int partition;

  /** Whether nothing was folded since the consumer was told where to read. */
  private boolean sought;

  /** When the task began: of what was produced before no time is measured. */
  private long beganMicros;

  /**
   * @param seek has this thread's consumer read on from the last record folded
   * @param begins told of each task that begins
   */
  FoldProcessor(
      String topic, ProcessTables tables, ObjLongConsumer<TopicPartition> seek, Runnable begins) {
    this.topic = topic;
    this.tables = tables;
    this.seek = seek;
    this.begins = begins;
  }

  @Override
  public void init(ProcessorContext<Void, Void> taskContext) {
    TableStore store = taskContext.getStateStore(TableTopology.STORE);
    FoldedTable ours = store.table();
    context = taskContext;
    table = ours;
    partition = taskContext.taskId().partition();
    sought = true;
    beganMicros = Clock.micros();
    looking = taskContext.schedule(LOOK, PunctuationType.WALL_CLOCK_TIME, now -> look(ours));
    long folded = ours.foldedOffset();
    seek.accept(new TopicPartition(topic, partition), folded < 0 ? ours.firstOffset() : folded);
    begins.run();
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    RecordMetadata metadata = Objects.requireNonNull(context).recordMetadata().orElseThrow();
    FoldedTable ours = Objects.requireNonNull(table);
    long offset = metadata.offset();
    long folded = ours.foldedOffset();
    long sum = RecordSum.of(record.timestamp(), record.key(), record.value());
    if (offset == folded && sum == ours.foldedSum()) {
      return; // reading begins at the last one folded
    }
    boolean isNext = offset == folded + 1;
    if (!isNext && !sought) {
      doubt(offset, folded);
    }
    if (offset > folded) {
      fold(ours, folded, offset, record, sum);
      return;
    }
    String found = offset < folded ? "it ended before" : "another record is there";
    refuse(
        ours,
        new Refusal(
            Refusal.Cause.LOG_LOST_END,
            folded,
            "the log was folded up to " + folded + ", now " + found + " (read " + offset + ")"),
        null);
  }

  /**
   * While a task runs, records out of turn may as well come from a consumer that was moved. So
   * reading begins again at the last one folded: what comes then, nobody has moved it, is what the
   * log has.
   */
  private void doubt(long offset, long folded) {
    tables.count(ProcessTables.DOUBTS, 1);
    if (ofDoubts.allows()) {
      LOG.warn(
          "partition {}: offset {} came after {}, reading begins again at the last record folded",
          partition,
          offset,
          folded);
    }
    throw beginAgain();
  }

  private void fold(
      FoldedTable ours, long folded, long offset, Record<byte[], byte[]> record, long sum) {
    long beginsMicros = Stages.begins(record.headers(), beganMicros);
    try {
      if (offset > folded + 1) {
        tellMissing(folded + 1, offset - 1);
        ours.missed(folded + 1, offset - 1);
      }
      ours.fold(offset, record.timestamp(), record.key(), record.value(), sum);
    } catch (RuntimeException e) {
      refuse(ours, foldFailed(offset, offset, e), e);
    } catch (Error e) {
      tables.at(partition).refuse(ours, foldFailed(Refusal.OF_THE_PROCESS, offset, e), e);
      throw e;
    }
    if (beginsMicros > 0) {
      tables.stages().visible(record.headers(), beginsMicros);
    }
    sought = false;
  }

  private static Refusal foldFailed(long blamed, long offset, Throwable failure) {
    return new Refusal(
        Refusal.Cause.FOLD_FAILED, blamed, "the fold of offset " + offset + " failed: " + failure);
  }

  private void refuse(FoldedTable ours, Refusal why, @Nullable Throwable failure) {
    tables.at(partition).refuse(ours, why, failure);
    throw beginAgain();
  }

  /** Others find out what no record tells; the task that has the table has to end then. */
  private void look(FoldedTable ours) {
    if (tables.at(partition).inUse() != ours) {
      throw beginAgain();
    }
    ours.idle();
  }

  private TaskCorruptedException beginAgain() {
    return new TaskCorruptedException(Set.of(Objects.requireNonNull(context).taskId()));
  }

  /** A table without a beginning lacks nothing that it ever had. */
  private void tellMissing(long from, long to) {
    if (from == 0) {
      LOG.info(
          "the table of partition {} begins with offset {}, as the log does", partition, to + 1);
      return;
    }
    tables.count(ProcessTables.MISSING, to - from + 1);
    if (ofMissing.allows()) {
      LOG.warn(
          "offsets {} to {} of partition {} were deleted before they were folded; is retention of"
              + " the events topic long enough?",
          from,
          to,
          partition);
    }
  }

  /** Timers of a task outlive its being made again. */
  @Override
  public void close() {
    if (looking != null) {
      looking.cancel();
    }
    looking = null;
    table = null;
    context = null;
  }
}
