// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.testing.drill.RollingRestart.Sample;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is done with a cluster of which nothing runs. */
@Timeout(120)
class RollingRestartTest {

  @TempDir private Path directory;

  private final Tallies tallies = new Tallies();
  private final RouterReplica replica =
      new RouterReplica("index-1", URI.create("http://127.0.0.1:1"));
  private final AtomicBoolean wasDisturbed = new AtomicBoolean();
  private final StringWriter said = new StringWriter();

  /** A router that asks all the time, and a replica that is up to date. */
  private ScheduledExecutorService ask(DrillLoad load) {
    ScheduledExecutorService asking = Executors.newSingleThreadScheduledExecutor();
    asking.scheduleAtFixedRate(
        () -> {
          long now = System.nanoTime();
          tallies.current().queries.incrementAndGet();
          load.staleness().observe("index-1", now, 0, "");
          if (!replica.hasSurvived(now)) {
            wasDisturbed.set(true);
          }
        },
        0,
        20,
        TimeUnit.MILLISECONDS);
    return asking;
  }

  @Test
  void shouldRestartEachInOrder_andCountForEachOfThem() throws Exception {
    StandInCluster cluster =
        StandInCluster.in(directory, "[ \"$command\" != restart ] || sleep 0.5");
    cluster.remember("base_port=21000", "brokers=1", "bridges=1", "indexers=1", "partitions=1");
    LocalSite site = new LocalSite(cluster.script(), directory);
    site.start(List.of());
    RollingRestart.Result result;
    try (DrillLoad load = Drills.load(List.of(replica), tallies);
        DrillJournal journal =
            new DrillJournal(new PrintWriter(said), 3, null, /* verbose= */ true)) {
      ScheduledExecutorService asking = ask(load);
      try {
        result = new RollingRestart(site, load, new FaultRunner(site, load), 100).run(journal);
      } finally {
        asking.shutdownNow();
      }
    }
    assertThat(cluster.commands())
        .containsExactly("start", "restart index-1", "restart bridge-1", "restart broker-1");
    assertThat(wasDisturbed).as("what it refuses meanwhile is no fault of its own").isTrue();
    assertThat(replica.hasSurvived(System.nanoTime())).isTrue();
    assertThat(result.samples().stream().map(Sample::doing).distinct())
        .containsSubsequence("index-1", "bridge-1", "broker-1");
    assertThat(result.samples()).extracting(Sample::second).isSorted();
    assertThat(result.tallies()).as("quiet, and three restarts").hasSize(4);
    assertThat(result.tallies()).last().isSameAs(tallies.current());
    assertThat(result.tallies().subList(1, 4))
        .allSatisfy(tally -> assertThat(tally.queries.get()).isPositive());
  }
}
