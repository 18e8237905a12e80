// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.query.match.InstanceSet.Instance;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.PrefixReader;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MatchCounterTest {

  private static final long H1 = 101;
  private static final long H2 = 102;
  private static final long H3 = 103;

  private final PrefixIndex index = new PrefixIndex();
  private final PrefixReader reader = new PrefixReader();
  private final MatchCounter counter = new MatchCounter();

  /** Reference 002: block size 2, H1 on dp0, dp1, CPU, DISK; H2 on dp0, CPU; H3 on DISK. */
  @Test
  void shouldGiveTheWorkedExample_of002() {
    hold(own("vllm-1", 0, "GPU"), H1, H2);
    hold(own("vllm-1", 1, "GPU"), H1);
    hold(pool("store", "CPU"), H1, H2);
    hold(pool("store", "DISK"), H1, H3);

    count(List.of(new Instance("vllm-1", List.of(0, 1), null)), H1, H2, H3);

    assertThat(answer(0, 2))
        .isEqualTo(Map.of("longest", 6, "GPU", 4, "CPU", 4, "DISK", 4, "DP0", 4, "DP1", 2));
  }

  /** Reference 000's numbers from the state the decisions derive them from. */
  @Test
  void shouldGiveTheSample_of000() {
    hold(own("vllm-1", 0, "GPU"), 1, 2);
    hold(own("vllm-1", 1, "CPU"), 1, 2, 3, 4);

    count(List.of(new Instance("vllm-1", List.of(0, 1), null)), 1, 2, 3, 4);

    assertThat(answer(0, 64))
        .isEqualTo(
            Map.of("longest", 256, "GPU", 128, "CPU", 256, "DISK", 0, "DP0", 128, "DP1", 256));
  }

  @Test
  void shouldCountWithHoles_whenAMediumMissesBlocksInTheMiddle() {
    hold(own("a", 0, "GPU"), 1, 3, 5);
    hold(own("a", 0, "cpu_pinned"), 2, 4);
    hold(own("b", 0, "GPU"), 1, 2, 4, 5);

    count(instances("a", "b"), 1, 2, 3, 4, 5, 6);

    assertThat(answer(0, 1))
        .isEqualTo(Map.of("longest", 5, "GPU", 3, "CPU", 2, "DISK", 0, "DP0", 5));
    assertThat(answer(1, 1))
        .as("what comes after its prefix does not count")
        .isEqualTo(Map.of("longest", 2, "GPU", 2, "CPU", 0, "DISK", 0, "DP0", 2));
  }

  @Test
  void shouldCountABlockOnce_whenRanksBackendsOrAPoolHoldItInOneMedium() {
    hold(own("a", 0, "CPU"), 1, 2);
    hold(own("a", 1, "DRAM"), 1, 2);
    hold(pool("p", "CPU"), 1, 3);
    hold(
        index.addOwner(new Owner("t", "p", 0, 0, "CPU", true, "backend-2", Incarnation.NONE)),
        1,
        4);

    count(instances("a"), 1, 2, 3, 4);

    assertThat(answer(0, 1))
        .isEqualTo(Map.of("longest", 4, "GPU", 0, "CPU", 4, "DISK", 0, "DP0", 2, "DP1", 2));
  }

  @Test
  void shouldServeOnlyItsInstances_whenAPoolIsChosen() {
    hold(pool("p", "CPU"), 1, 2);
    hold(pool("q", "NPU"), 1);
    count(
        List.of(
            new Instance("all", List.of(0), null),
            new Instance("none", List.of(0, 3), Set.of()),
            new Instance("q", List.of(0), Set.of("q"))),
        1,
        2);

    assertThat(answer(0, 1))
        .isEqualTo(Map.of("longest", 2, "GPU", 0, "CPU", 2, "DISK", 0, "NPU", 1, "DP0", 0));
    assertThat(answer(1, 1))
        .isEqualTo(
            Map.of("longest", 0, "GPU", 0, "CPU", 0, "DISK", 0, "NPU", 0, "DP0", 0, "DP3", 0));
    assertThat(answer(2, 1))
        .isEqualTo(Map.of("longest", 1, "GPU", 0, "CPU", 0, "DISK", 0, "NPU", 1, "DP0", 0));
  }

  @Test
  void shouldGoOn_whenOneBlockIsHandedFromOneHolderToTheNext() {
    hold(own("a", 0, "GPU"), 1);
    hold(own("a", 1, "GPU"), 2);
    hold(pool("p", "DISK"), 3);
    hold(own("a", 0, "CPU"), 4);

    count(instances("a"), 1, 2, 3, 4);

    assertThat(answer(0, 1))
        .isEqualTo(Map.of("longest", 4, "GPU", 2, "CPU", 1, "DISK", 1, "DP0", 2, "DP1", 1));
  }

  @Test
  void shouldIgnoreOthers_whenOwnersAreNotListedOrRetired() {
    hold(own("stranger", 0, "GPU"), 1, 2, 3);
    int dead = own("a", 0, "GPU");
    hold(dead, 1, 2, 3);
    hold(own("a", 7, "GPU"), 1);
    index.retireOwner(dead);

    assertThat(count(instances("a"), 1, 2, 3)).isEqualTo(1);

    assertThat(answer(0, 1))
        .isEqualTo(Map.of("longest", 1, "GPU", 1, "CPU", 0, "DISK", 0, "DP0", 0, "DP7", 1));
  }

  @Test
  void shouldStartAfresh_whenUsedForOneQueryAfterAnother() {
    int a = own("a", 0, "GPU");
    hold(a, 1, 2, 3);
    InstanceSet set = new InstanceSet(instances("a", "b"), Media.standard());
    for (int i = 0; i < 3; i++) {
      reader.walk(index, QueryKeys.of(1, 2, 3), QueryKeys.PLAIN, counter.over(set));
      assertThat(counter.longest(0)).isEqualTo(3);
      reader.walk(index, QueryKeys.of(1, 9), QueryKeys.PLAIN, counter.over(set));
      assertThat(counter.longest(0)).isEqualTo(1);
      reader.walk(index, QueryKeys.of(), QueryKeys.PLAIN, counter.over(set));
      assertThat(answer(0, 1))
          .isEqualTo(Map.of("longest", 0, "GPU", 0, "CPU", 0, "DISK", 0, "DP0", 0));
    }
    assertThat(count(List.of(), 1, 2)).isZero();
  }

  private int own(String instance, int rank, @Nullable String medium) {
    return index.addOwner(
        new Owner("t", instance, rank, rank, medium, false, null, Incarnation.NONE));
  }

  private int pool(String id, String medium) {
    return index.addOwner(new Owner("t", id, 0, 0, medium, true, null, Incarnation.NONE));
  }

  private void hold(int slot, long... keys) {
    for (long key : keys) {
      index.add(key, slot);
    }
  }

  private static List<Instance> instances(String... ids) {
    return java.util.Arrays.stream(ids).map(id -> new Instance(id, List.of(0), null)).toList();
  }

  private int count(List<Instance> instances, long... keys) {
    InstanceSet set = new InstanceSet(instances, Media.standard());
    return reader.walk(index, QueryKeys.of(keys), QueryKeys.PLAIN, counter.over(set));
  }

  private Map<String, Integer> answer(int instance, int blockSize) {
    return new TreeMap<>(QueryKeys.row(counter, instance, blockSize));
  }
}
