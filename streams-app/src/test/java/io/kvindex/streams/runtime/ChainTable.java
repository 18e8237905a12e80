// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A small table: the last value of each key, and a sum over all records in their order. Complains
 * of whatever must not happen to a table.
 */
final class ChainTable implements FoldedTable {

  /** A checkpoint is written with each offset that is a multiple of it. */
  static final int CHECKPOINT_EVERY = 64;

  /** What was folded; the newest value of each key. */
  record State(
      long offset,
      long sum,
      long chain,
      long records,
      TreeMap<String, String> values,
      List<String> missed) {

    static final State EMPTY = new State(-1, 0, 1, 0, new TreeMap<>(), List.of());

    State plus(long atOffset, byte @Nullable [] key, byte @Nullable [] value, long recordSum) {
      TreeMap<String, String> more = new TreeMap<>(values);
      more.put(text(key), text(value));
      return new State(atOffset, recordSum, chain * 31 + recordSum, records + 1, more, missed);
    }

    State missing(long from, long to) {
      List<String> more = new ArrayList<>(missed);
      more.add(from + "-" + to);
      return new State(offset, sum, chain, records, values, more);
    }

    private static String text(byte @Nullable [] bytes) {
      return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private final Consumer<State> disk;
  private final LongConsumer beforeFold;
  private final Consumer<String> complaints;
  private final AtomicReference<@Nullable Thread> writer = new AtomicReference<>();
  private volatile State state;
  private volatile String ended = "";
  private final PartitionView view = new PartitionTable(0, new Epochs(), Journal.none());
  private long next;

  /**
   * @param disk takes checkpoints
   * @param beforeFold told of each offset; may wait, or throw for a table that is half changed
   * @param complaints what must not happen
   */
  ChainTable(
      State state, Consumer<State> disk, LongConsumer beforeFold, Consumer<String> complaints) {
    this.state = state;
    this.disk = disk;
    this.beforeFold = beforeFold;
    this.complaints = complaints;
    next = state.offset() + 1;
  }

  State state() {
    return state;
  }

  @Override
  public long foldedOffset() {
    return state.offset();
  }

  @Override
  public long foldedSum() {
    return state.sum();
  }

  @Override
  public void fold(
      long offset, long timestampMs, byte @Nullable [] key, byte @Nullable [] value, long sum) {
    if (!writer.compareAndSet(null, Thread.currentThread())) {
      complaints.accept("two threads write: " + writer + " and " + Thread.currentThread());
    }
    if (!ended.isEmpty()) {
      complaints.accept("offset " + offset + " after the table was " + ended);
    }
    if (offset != next) {
      complaints.accept("offset " + offset + " in place of " + next);
    }
    beforeFold.accept(offset);
    state = state.plus(offset, key, value, sum);
    next = offset + 1;
    if (offset % CHECKPOINT_EVERY == 0) {
      disk.accept(state);
    }
    writer.set(null);
  }

  @Override
  public void missed(long from, long to) {
    if (from != next) {
      complaints.accept("missed from " + from + " in place of " + next);
    }
    state = state.missing(from, to);
    next = to + 1;
  }

  @Override
  public PartitionView view() {
    return view;
  }

  @Override
  public void idle() {}

  @Override
  public void close() {
    end("closed");
    disk.accept(state);
  }

  @Override
  public void abandon() {
    end("abandoned");
  }

  private void end(String how) {
    if (!ended.isEmpty()) {
      complaints.accept(how + " after it was " + ended);
    }
    ended = Objects.requireNonNull(how);
  }

  String ended() {
    return ended;
  }
}
