// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.EventRecordDecoder;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.fold.Counts;
import io.kvindex.streams.fold.Fold;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.fold.Outcome;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.table.PartitionTable;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does a block cost the fold, from a record's bytes on? A stream stores new runs and removes
 * the oldest. Time and bytes ({@code -prof gc}) are per operation: one block stored or removed.
 * What a record allocates whatever it holds shows as the difference between long and short events.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class FoldBench {

  private static final int BLOCKS = 1024;
  private static final byte[] KEY = {1};

  /** Of as many bytes as all behind it. */
  private static final long FIRST_ID = (1L << 28) + 1;

  /** Blocks of an event. */
  @Param({"16", "1024"})
  int run;

  @Param({"1000000"})
  int resident;

  private final Journal.Pieces pieces = new Journal.Pieces();
  private final PartitionTable table = new PartitionTable(0, new Epochs(), new Journal(pieces));
  private final Fold fold = new Fold(table, new Uncounted(), Limits.DEFAULT);
  private final EventRecordDecoder decoder = new EventRecordDecoder();
  private byte[][] records = new byte[0][];
  private int idAt;
  private int afterAt;
  private int at;
  private long offset;

  private static final class Uncounted implements Counts {
    @Override
    public void taken(int events) {}

    @Override
    public void record(Outcome outcome, int events) {}

    @Override
    public void add(Outcome outcome, long count) {}
  }

  /** Half of the records store a run, each followed by one that removes the run half way round. */
  @Setup
  public void fill() {
    Random random = new Random(1);
    int runs = 2 * resident / run;
    Hashes[] names = new Hashes[runs];
    for (int i = 0; i < runs; i++) {
      names[i] = Hashes.of(random.longs(run).toArray());
    }
    records = new byte[2 * runs][];
    Place place = new Place("GPU", 0, 0, null);
    for (int i = 0; i < runs; i++) {
      records[2 * i] =
          record(
              new KvEvent.Stored(
                  place,
                  StatedContext.NONE,
                  Parent.ROOT,
                  names[i],
                  Hashes.of(random.longs(run).toArray()),
                  Hashes.EMPTY));
      records[2 * i + 1] =
          record(new KvEvent.Removed(place, names[(i + runs / 2) % runs], Hashes.EMPTY));
    }
    byte[] one = records[0];
    idAt = indexOf(one, FIRST_ID);
    afterAt = indexOf(one, FIRST_ID - 1);
    fold.startsAt(0);
    take(records[0]);
    for (int i = 2; i < runs; i += 2) {
      take(records[i]);
    }
    at = runs;
  }

  private static byte[] record(KvEvent event) {
    return EventRecordCodec.encode(
        new EventRecord(
            new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT),
            StreamId.of(new PublisherId("engine", "default", 0)),
            SourceType.VLLM,
            new SourceTraits(CopyPolicy.COUNT, Set.of(), 0, 1),
            new Incarnation(1, 1, 0),
            Position.whole(FIRST_ID),
            FIRST_ID - 1,
            1,
            List.of(event)));
  }

  /** Where a number's varint is. */
  private static int indexOf(byte[] record, long number) {
    byte[] wanted = new byte[5];
    number(wanted, 0, number);
    for (int from = 0; from + wanted.length <= record.length; from++) {
      if (Arrays.equals(record, from, from + wanted.length, wanted, 0, wanted.length)) {
        return from;
      }
    }
    throw new IllegalStateException("the record does not have its number in it");
  }

  private static void number(byte[] record, int from, long value) {
    for (int i = 0; i < 5; i++) {
      record[from + i] = (byte) (value >>> 7 * i & 0x7F | (i < 4 ? 0x80 : 0));
    }
  }

  private void take(byte[] record) {
    number(record, idAt, FIRST_ID + offset);
    number(record, afterAt, FIRST_ID + offset - 1);
    fold.take(decoder.decode(KEY, record), offset++, 1_000_000);
  }

  /** One block stored or removed. */
  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public long operation() {
    for (int left = BLOCKS; left > 0; left -= run) {
      take(records[at]);
      at = at + 1 == records.length ? 0 : at + 1;
    }
    if (table.blocks().journal().changes() > 500_000) {
      table.blocks().swap(new Journal(pieces)).release();
    }
    return table.blocks().names();
  }
}
