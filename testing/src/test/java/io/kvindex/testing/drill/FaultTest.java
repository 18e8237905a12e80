// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FaultTest {

  @TempDir private Path directory;

  private LocalSite site;

  @BeforeEach
  void start() throws Exception {
    StandInCluster cluster = StandInCluster.in(directory, "");
    cluster.remember("brokers=3", "bridges=2", "indexers=2", "base_port=21000");
    site = new LocalSite(cluster.script(), directory);
    site.start(List.of());
  }

  private List<Fault> round(int maxDownSeconds, String... only) {
    return Fault.round(site, Set.of(only), maxDownSeconds, new Random(1));
  }

  @Test
  void shouldDoEachOnce() {
    assertThat(round(10))
        .extracting(Fault::toString)
        .containsExactly(
            "kill -9 broker-1",
            "kill -9 broker-2",
            "kill -9 broker-3",
            "kill -9 bridge-1",
            "kill -9 bridge-2",
            "kill -9 index-1",
            "kill -9 index-2",
            "pause ");
  }

  @Test
  void shouldDoWhatIsNamed() {
    assertThat(round(10, "bridge", "index-2", "pause"))
        .extracting(Fault::toString)
        .containsExactly("kill -9 bridge-1", "kill -9 bridge-2", "kill -9 index-2", "pause ");
    assertThat(round(10, "index-3")).as("there are two").isEmpty();
  }

  @Test
  void shouldLeaveThemDeadForNoLongerThanAllowed() {
    assertThat(round(10))
        .filteredOn(fault -> fault.kind() != Fault.Kind.PAUSE)
        .allMatch(fault -> fault.forMs() >= 0 && fault.forMs() <= 10_000)
        .anyMatch(fault -> fault.forMs() > 1_000);
    assertThat(round(0))
        .filteredOn(fault -> fault.kind() != Fault.Kind.PAUSE)
        .allMatch(fault -> fault.forMs() == 0);
  }

  /** One that is shorter would not be noticed by anybody. */
  @Test
  void shouldPauseForTwoSecondsAtLeast() {
    assertThat(round(0, "pause")).extracting(Fault::forMs).containsExactly(2_000L);
  }

  @Test
  void shouldKnowWhereAnIndexerAnswers() {
    assertThat(site.uri("index-2")).hasToString("http://127.0.0.1:21032");
    assertThat(site.names("index")).containsExactly("index-1", "index-2");
  }
}
