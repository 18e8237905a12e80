// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.Test;

class PartitionPlanRandomTest extends PlanFixture {

  /** Replicas come, go, lose their rows and catch up at random. */
  @Test
  void shouldSettleAgain_andLeaveOwnersAlone_whateverHappens() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      copies = random.nextInt(3);
      tasks = tasks(1 + random.nextInt(24));
      List<Site> sites = sites(1 + random.nextInt(5));
      int made = sites.size();
      for (int step = 0; step < 20; step++) {
        if (sites.size() > 1 && random.nextInt(3) == 0) {
          sites.remove(random.nextInt(sites.size()));
        } else if (random.nextInt(3) == 0) {
          sites.add(new Site(made++, null));
        }
        if (random.nextBoolean()) {
          sites.get(random.nextInt(sites.size())).catchUp();
        }
        Map<TaskId, Set<Site>> close = close(sites);
        rebalance(sites);
        assertOwnersAreClose(close, sites);
      }
      assertSettles(seed, sites);
    }
  }

  private Map<TaskId, Set<Site>> close(List<Site> sites) {
    Map<TaskId, Set<Site>> close = new HashMap<>();
    for (TaskId task : tasks) {
      Set<Site> some = new HashSet<>(sites);
      some.removeIf(site -> site.lags.getOrDefault(task, ALL_ROWS) > 5 * CLOSE);
      close.put(task, some);
    }
    return close;
  }

  private static void assertOwnersAreClose(Map<TaskId, Set<Site>> close, List<Site> sites) {
    close.forEach(
        (task, before) ->
            assertThat(sites)
                .as("owner of %s", task)
                .anyMatch(
                    site ->
                        site.owned.contains(task) && (before.isEmpty() || before.contains(site))));
  }

  private void assertSettles(int seed, List<Site> sites) {
    for (int look = 0; look < 30; look++) {
      sites.forEach(Site::catchUp);
      if (rebalance(sites)) {
        int most = sites.stream().mapToInt(site -> site.owned.size()).max().orElseThrow();
        int least = sites.stream().mapToInt(site -> site.owned.size()).min().orElseThrow();
        assertThat(most - least).isLessThanOrEqualTo(1);
        return;
      }
    }
    throw new AssertionError("seed " + seed + " does not settle");
  }
}
