// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.model.Media;
import io.kvindex.query.match.InstanceSet;
import io.kvindex.query.match.InstanceSet.Instance;
import io.kvindex.query.match.MatchCounter;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.PrefixReader;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does one query cost, from tokens to the conductor numbers of every instance? Block size 16;
 * all instances hold at least nine tenths of each of 64 prompts and end at 16 different depths.
 *
 * <p>Target: 32,768 tokens with 64 instances 80 us, with 1,000 instances 150 us.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(3)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
public class IndexWalkBench {

  private static final int PROMPTS = 64;
  private static final int PLACES = 16;
  private static final long[] PLAIN = {0};

  /** Tokens of a prompt. */
  @Param({"4096", "32768"})
  int tokens;

  /** Instances that share each prompt. */
  @Param({"64", "1000"})
  int sharing;

  private final PrefixIndex index = new PrefixIndex();
  private final PrefixReader reader = new PrefixReader();
  private final MatchCounter counter = new MatchCounter();
  private final Prompts.Lazy lazy = new Prompts.Lazy();
  private Prompts prompts = new Prompts(0, 0, new Random(0));
  private InstanceSet instances = InstanceSet.EMPTY;
  private int next;

  /** Fills the index. */
  @Setup
  public void fill() {
    prompts = new Prompts(PROMPTS, tokens, new Random(42));
    int[] slots = IntStream.range(0, sharing).map(i -> index.addOwner(Prompts.owner(i))).toArray();
    prompts.share(index, slots, PLACES);
    instances =
        new InstanceSet(
            IntStream.range(0, sharing)
                .mapToObj(i -> new Instance("instance-" + i, List.of(0), null))
                .toList(),
            Media.standard());
  }

  /** Hash, walk and count: what {@code /query} does between parsing and writing. */
  @Benchmark
  public int hashWalkAndCount() {
    next = (next + 31) % PROMPTS;
    return reader.walk(index, lazy.of(prompts.tokens(next)), PLAIN, counter.over(instances));
  }

  /** The part of it that is hashing. */
  @Benchmark
  public long hashOnly() {
    next = (next + 31) % PROMPTS;
    long[] out = new long[32];
    Prompts.Lazy keys = lazy.of(prompts.tokens(next));
    long seen = 0;
    int filled;
    for (int from = 0; (filled = keys.fill(out, from, out.length)) > 0; from += filled) {
      seen ^= out[filled - 1];
    }
    return seen;
  }
}
