// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import io.kvindex.query.match.InstanceSet.Instance;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.PrefixReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The waterfall's worked examples, and any state against its definition read block by block. */
class TierCounterTest {
  private static final String[] MEDIA = {"GPU", "CPU", "DISK", "EXTERNAL"};
  private static final long[] PLAIN = {0};

  private final PrefixIndex index = new PrefixIndex();
  private final PrefixReader reader = new PrefixReader();
  private final TierCounter counter = new TierCounter();

  private record Holder(String instance, int rank, String medium, boolean pool) {
    Owner owner() {
      return new Owner("t", instance, rank, rank, medium, pool, null, Incarnation.NONE);
    }
  }

  private void hold(Holder holder, int... blocks) {
    int slot = index.addOwner(holder.owner());
    for (int block : blocks) {
      index.add(block + 1, slot);
    }
  }

  private void count(List<Instance> instances, int blocks) {
    long[] hashes = IntStream.rangeClosed(1, blocks).asLongStream().toArray();
    BlockKeys keys =
        (out, from, max) -> {
          int count = Math.min(max, blocks - from);
          System.arraycopy(hashes, from, out, 0, Math.max(0, count));
          return count;
        };
    reader.walk(index, keys, PLAIN, counter.over(new InstanceSet(instances, Media.standard())));
  }

  /** Blocks of the device (of rank 0), and of a pool's host and disk. Source: C++ Conductor. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      textBlock =
          """
          0 1,   0 1 2, 0 1 2, 3, 2, 3, 3
          0 1,   2,     3,     4, 2, 3, 4
          0,     -,     1 2,   3, 1, 1, 3
          0 1 2, -,     -,     3, 3, 3, 3
          0,     0 1,   0 1 2, 3, 1, 2, 3
          0,     2,     1 3,   4, 1, 1, 2
          0 4,   1 4,   3 4,   5, 1, 2, 2
          -,     -,     0,     1, 0, 0, 1
          """)
  void shouldFollowTheWaterfall(
      String gpu, String cpu, String disk, int blocks, int device, int host, int disks) {
    hold(new Holder("i", 0, "GPU", false), blocks(gpu));
    hold(new Holder("p", 0, "CPU", true), blocks(cpu));
    hold(new Holder("p", 0, "DISK", true), blocks(disk));
    count(List.of(new Instance("i", List.of(0), null)), blocks);
    assertThat(counter.furthest(0, Tier.DEVICE.ordinal())).isEqualTo(device);
    assertThat(counter.furthest(0, Tier.HOST.ordinal())).isEqualTo(host);
    assertThat(counter.furthest(0, Tier.DISK.ordinal())).isEqualTo(disks);
  }

  private static int[] blocks(String list) {
    return list == null
        ? new int[0]
        : List.of(list.split(" ")).stream().mapToInt(Integer::parseInt).toArray();
  }

  @Test
  void shouldNotStitchRanksTogether_whenEachHoldsAPart() {
    hold(new Holder("i", 0, "GPU", false), 0);
    hold(new Holder("i", 1, "GPU", false), 1);
    count(List.of(new Instance("i", List.of(0, 1), null)), 2);
    assertThat(counter.reached(counter.firstLane(0), 0)).isEqualTo(1);
    assertThat(counter.reached(counter.firstLane(0) + 1, 0)).isZero();
    assertThat(counter.furthest(0, Tier.EXTERNAL.ordinal())).isEqualTo(1);
  }

  @Test
  void shouldCountAsDefined_whenTheStateIsAny() {
    long seed = TestSeed.of(TierCounterTest.class);
    for (int run = 0; run < 10_000; run++) {
      Random random = new Random(seed + run);
      TierCounterTest fresh = new TierCounterTest();
      fresh.compare(random);
    }
  }

  private void compare(Random random) {
    int blocks = 1 + random.nextInt(8);
    Map<Holder, boolean[]> state = new HashMap<>();
    for (int i = random.nextInt(12); i > 0; i--) {
      boolean pool = random.nextInt(4) == 0;
      Holder holder =
          new Holder(
              (pool ? "pool-" : "i-") + random.nextInt(2),
              random.nextInt(2),
              MEDIA[random.nextInt(MEDIA.length)],
              pool);
      boolean[] held = state.computeIfAbsent(holder, key -> new boolean[blocks]);
      for (int block = 0; block < blocks; block++) {
        held[block] |= random.nextInt(3) > 0;
      }
    }
    state.forEach(
        (holder, held) ->
            hold(holder, IntStream.range(0, blocks).filter(block -> held[block]).toArray()));
    List<Instance> instances = new ArrayList<>();
    instances.add(new Instance("i-0", List.of(0), null));
    instances.add(new Instance("i-1", List.of(0, 1), java.util.Set.of("pool-1")));
    count(instances, blocks);
    for (int i = 0; i < instances.size(); i++) {
      for (int lane = counter.firstLane(i); lane < counter.endLane(i); lane++) {
        int at = 0;
        for (int tier = 0; tier < Tier.values().length; tier++) {
          while (at < blocks && holds(state, instances.get(i), counter.rank(lane), tier, at)) {
            at++;
          }
          assertThat(counter.reached(lane, tier)).isEqualTo(at);
        }
      }
    }
  }

  private static boolean holds(
      Map<Holder, boolean[]> state, Instance instance, int rank, int tier, int block) {
    return state.entrySet().stream()
        .filter(entry -> entry.getValue()[block])
        .map(Map.Entry::getKey)
        .filter(holder -> Media.standard().tier(holder.medium()).ordinal() == tier)
        .anyMatch(
            holder ->
                holder.pool()
                    ? tier > 0 && instance.servedBy(holder.instance())
                    : holder.instance().equals(instance.instanceId()) && holder.rank() == rank);
  }
}
