// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.streams.apply.Counts;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.apply.Outcome;
import io.kvindex.streams.apply.TableWriter;
import io.kvindex.streams.store.OwnTable;
import io.kvindex.streams.store.StoreFaults;
import io.kvindex.streams.store.TableAccessQuery;
import io.kvindex.streams.table.PartitionTable;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands a partition's records to its table. Belongs to one task. */
final class IndexProcessor implements Processor<String, byte[], Void, Void> {

  private static final Logger LOG = LoggerFactory.getLogger(IndexProcessor.class);
  private static final Duration SWEEP_EVERY = Duration.ofMillis(50);
  private static final int SWEPT_WHEN_IDLE = 2_500;

  private final String storeName;
  private final Counts counts;
  private final Limits limits;
  private final IntPredicate standbysWait;
  private final StoreFaults faults;
  private final LogHoles holes = new LogHoles();
  private final TaskPlace place;
  private long nextWarningNs = System.nanoTime();
  private @Nullable ProcessorContext<Void, Void> context;
  private @Nullable TableWriter writer;
  private @Nullable WorkTimer sweeping;
  private @Nullable EarlyCommits commits;
  private boolean started;

  IndexProcessor(
      String storeName,
      Counts counts,
      Limits limits,
      StoreFaults faults,
      TaskPlace place,
      IntPredicate standbysWait) {
    this.place = place;
    this.standbysWait = standbysWait;
    this.storeName = storeName;
    this.counts = counts;
    this.limits = limits;
    this.faults = faults;
  }

  @Override
  public void init(ProcessorContext<Void, Void> taskContext) {
    context = taskContext;
    started = false;
    KeyValueStore<Bytes, byte[]> store = taskContext.getStateStore(storeName);
    // Restored to its end by now, so the view is complete from here on.
    OwnTable own =
        store
            .query(new TableAccessQuery(), PositionBound.unbounded(), new QueryConfig(false))
            .getResult();
    PartitionTable table = own.table();
    int partition = taskContext.taskId().partition();
    TaskPlace.Start start = place.begin(partition, table.view().appliedOffset());
    holes.begin(start.lacking());
    // The rows have all that came of what is before.
    table.streams().taken(Math.max(LogHoles.UNKNOWN, start.first() - 1));
    writer = new TableWriter(table, store, counts, limits);
    table.view().live();
    TableWriter tidied = writer;
    sweeping = new WorkTimer(taskContext, SWEEP_EVERY, now -> tidied.tidy(SWEPT_WHEN_IDLE));
    sweeping.start();
    commits = new EarlyCommits(taskContext, standbysWait, CommitTime.ofThisThread());
    TablesOfThread.current().begins(partition, own.rows());
  }

  /**
   * Kafka Streams makes a task whose rows were thrown away again with its timers: they would write
   * what the one before left unwritten into the new rows, and nobody would fold it.
   */
  @Override
  public void close() {
    if (sweeping != null) {
      sweeping.stop();
    }
    if (commits != null) {
      commits.stop();
    }
    if (context != null) {
      TablesOfThread.current().ends(context.taskId().partition());
    }
    // A standby that it may become keeps this object: not with what only who writes needs.
    sweeping = null;
    commits = null;
    writer = null;
  }

  @Override
  public void process(Record<String, byte[]> record) {
    apply(record);
    Objects.requireNonNull(sweeping).start();
    Objects.requireNonNull(commits).applied();
  }

  private void apply(Record<String, byte[]> record) {
    RecordMetadata metadata = Objects.requireNonNull(context).recordMetadata().orElseThrow();
    TableWriter table = Objects.requireNonNull(writer);
    if (!started) {
      started = true;
      faults.begins(metadata.partition(), table.isEmpty());
      table.startsAt(metadata.offset());
    }
    long missing = holes.before(metadata.offset());
    if (missing > 0) {
      tellMissing(metadata, missing);
      table.missedRecords();
    }
    EventRecord event;
    try {
      event = EventRecordCodec.decode(record.value());
    } catch (MalformedRecordException | NullPointerException e) {
      counts.taken(1);
      counts.record(Outcome.UNDECODABLE, 1);
      warn(metadata, e);
      table.passOver(metadata.offset());
      return;
    }
    table.take(event, metadata.offset(), record.timestamp());
  }

  private void tellMissing(RecordMetadata metadata, long missing) {
    counts.missing(missing);
    LOG.warn(
        "records {} to {} of partition {} were deleted before they were read, or their rows are lost:"
            + " all publishers in it are degraded; is retention of the events topic long enough?",
        metadata.offset() - missing,
        metadata.offset() - 1,
        metadata.partition());
  }

  /** Each is counted; the log names one a minute. */
  private void warn(RecordMetadata metadata, RuntimeException problem) {
    long now = System.nanoTime();
    if (now - nextWarningNs >= 0) {
      nextWarningNs = now + TimeUnit.MINUTES.toNanos(1);
      LOG.warn(
          "undecodable record partition={} offset={}: {}",
          metadata.partition(),
          metadata.offset(),
          problem.getMessage());
    }
  }
}
