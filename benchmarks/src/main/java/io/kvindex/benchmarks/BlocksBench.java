// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.model.event.Hashes;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Holder;
import io.kvindex.streams.index.Journal;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * What does a block cost the fold's memory, rules and checkpoint apart? Runs of 32 new blocks are
 * taught and stored by the owners in turn, and all removed again; what nobody holds is forgotten,
 * and changes are journalled. Time and bytes ({@code -prof gc}) are per operation: one block stored
 * or removed.
 *
 * <p>Target: next to no bytes, as what is needed all the time is used again.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class BlocksBench {

  private static final int TABLE = 1;
  private static final int SPACE = 1;
  private static final int RUN = 32;
  private static final int RUNS = 256;
  private static final int RESIDENT = 1_000_000;
  private static final int UNHELD = 10_000;

  /** Who store in turn. */
  @Param({"1", "64"})
  int owners;

  /** Whether somebody has a block by two names, which has to be looked at with each removal. */
  @Param({"false", "true"})
  boolean aliases;

  private final Journal.Pieces pool = new Journal.Pieces();
  private final Blocks blocks = new Blocks(new Epochs(), new Journal(pool));
  private final long[][] runs = new long[RUNS][RUN];
  private final Hashes[] hashes = new Hashes[RUNS];
  private final Random random = new Random(1);
  private Holder[] holders = {};
  private int next;

  /** Fills the table. */
  @Setup
  public void fill() {
    blocks.addTable(TABLE);
    blocks.addSpace(SPACE, TABLE, false, 0);
    holders = new Holder[owners];
    for (int i = 0; i < owners; i++) {
      holders[i] = blocks.addHolder(TABLE, i + 1, Prompts.owner(i));
    }
    for (int r = 0; r < RUNS; r++) {
      hashes[r] = Hashes.of(runs[r]);
    }
    for (int i = 0; i < RESIDENT / RUN / RUNS; i++) {
      prepare();
      for (int r = 0; r < RUNS; r++) {
        store(r, holders[r % owners]);
      }
      release();
    }
    if (aliases) {
      for (int name = 1; name <= 2; name++) {
        blocks.teach(SPACE, name, 7, 0, 0, 1, 0, true);
        blocks.setCopies(holders[0], 0, 1, 1, 0);
      }
    }
  }

  /** Prepares the runs of one invocation, so that making them is not measured. */
  @Setup(Level.Invocation)
  public void prepare() {
    for (long[] run : runs) {
      for (int i = 0; i < RUN; i++) {
        run[i] = random.nextLong();
      }
    }
  }

  /** 256 runs stored, then removed. */
  @Benchmark
  @OperationsPerInvocation(2 * RUNS * RUN)
  public long storeAndRemove() {
    for (int r = 0; r < RUNS; r++) {
      store(r, holders[(next + r) % owners]);
    }
    for (int r = 0; r < RUNS; r++) {
      remove(r, holders[(next + r) % owners]);
    }
    next++;
    release();
    return blocks.names();
  }

  private void store(int run, Holder holder) {
    blocks.touch(SPACE, hashes[run]);
    long parent = 0;
    for (int i = 0; i < RUN; i++) {
      long hash = runs[run][i];
      if (!blocks.find(SPACE, hash)) {
        blocks.teach(SPACE, hash, hash * 31, 0, i, hash + 1, parent, true);
      }
      blocks.setCopies(holder, 0, 1, 1, 0);
      parent = hash;
    }
    blocks.trim(UNHELD);
    blocks.sweep(gone -> {});
  }

  private void remove(int run, Holder holder) {
    blocks.touch(SPACE, hashes[run]);
    for (int i = RUN - 1; i >= 0; i--) {
      blocks.find(SPACE, runs[run][i]);
      blocks.setCopies(holder, 0, 1, 0, 0);
    }
    blocks.trim(UNHELD);
    blocks.sweep(gone -> {});
  }

  private void release() {
    blocks.swap(new Journal(pool)).release();
  }
}
