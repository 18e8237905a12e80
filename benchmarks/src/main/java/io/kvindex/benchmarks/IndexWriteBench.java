// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.streams.index.PrefixIndex;
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
 * What does one index update cost the stream thread? As engines do it: 64 owners in turn store a
 * run of 4 to 16 consecutive blocks of a prompt and drop the oldest run they hold, so sizes stay as
 * they are. Half of the runs go to prompts others hold too. Time is per update (one block of one
 * owner).
 *
 * <p>Target: 100 ns.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
public class IndexWriteBench {

  private static final int OWNERS = 64;
  private static final int RUN = 10;
  private static final int ROUND = 512;

  /** Blocks in the table all the time. */
  @Param({"100000", "1000000", "10000000"})
  int blocks;

  /** Whether the writer asks for a run's entries before it updates them. */
  @Param({"false", "true"})
  boolean touch;

  private final PrefixIndex index = new PrefixIndex();
  private final int[] slots = new int[OWNERS];
  private final Random random = new Random(1);

  /** Runs in the order they will be dropped: a ring; owner of run i is i % OWNERS. */
  private long[][] ring = new long[0][];

  private long[][] coming = new long[0][];
  private int at;

  @SuppressWarnings("UnusedVariable") // keeps loads alive whose value nobody needs
  private long touched;

  /** Fills the table. */
  @Setup
  public void fill() {
    for (int i = 0; i < OWNERS; i++) {
      slots[i] = index.addOwner(Prompts.owner(i));
    }
    ring = new long[blocks / RUN * 3 / 2][];
    for (at = 0; at < ring.length; at++) {
      ring[at] = fresh();
      for (long key : ring[at]) {
        index.add(key, slots[at % OWNERS]);
      }
    }
    at = 0;
  }

  /** Prepares the runs of one invocation, so that making them is not measured. */
  @Setup(Level.Invocation)
  public void prepare() {
    coming = new long[ROUND][];
    for (int i = 0; i < ROUND; i++) {
      coming[i] = fresh();
    }
  }

  /** Runs of 10 blocks on average (4 to 16): 512 runs stored, 512 dropped. */
  @Benchmark
  @OperationsPerInvocation(2 * ROUND * RUN)
  public long storeAndDropRuns() {
    for (long[] run : coming) {
      int slot = slots[at % OWNERS];
      long[] oldest = ring[at];
      if (touch) {
        touched = touched(run) ^ touched(oldest);
      }
      for (long key : run) {
        index.add(key, slot);
      }
      for (int i = oldest.length - 1; i >= 0; i--) {
        index.remove(oldest[i], slot);
      }
      ring[at] = run;
      at = (at + 1) % ring.length;
    }
    return index.figures().blocks();
  }

  private long touched(long[] keys) {
    long seen = 0;
    for (long key : keys) {
      seen ^= index.touch(key);
    }
    return seen;
  }

  /** A new run, or one that a recent other owner holds. */
  private long[] fresh() {
    if (at > 0 && random.nextBoolean()) {
      long[] shared = ring[Math.floorMod(at - 1 - random.nextInt(OWNERS / 2), ring.length)];
      if (shared != null) {
        return shared;
      }
    }
    return random.longs(4 + random.nextInt(2 * RUN - 7)).toArray();
  }
}
