// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.streams.IndexerConfig;
import io.kvindex.streams.Placement;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Each flag comes to where it is meant for. */
class ReplicaOptionsTest {

  private static final String FULL = "--full-replicas";
  private static final IndexerConfig BASE = IndexerConfig.at("localhost:1", Path.of("tables"));

  private static ReplicaOptions options(String... flags) {
    return CommandLine.populateCommand(new ReplicaOptions(), flags);
  }

  private static IndexerConfig config(String... flags) {
    return options(flags).applyTo(BASE, "127.0.0.1", 13333);
  }

  @Test
  void shouldBeTheDefaults_whenNothingIsSaid() {
    IndexerConfig config = config();
    assertThat(config.placement()).isEqualTo(BASE.placement());
    assertThat(config.tolerance()).isEqualTo(BASE.tolerance());
    assertThat(config.advertise()).isEqualTo("127.0.0.1:13333");
    assertThat(options().drain()).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void shouldSayWhereAndWhoItIs() {
    assertThat(config("--advertise", "index-0.peers").advertise()).isEqualTo("index-0.peers:13333");
    assertThat(config("--rack", "a").placement().rack()).isEqualTo("a");
    assertThat(config("--instance-name", "one").placement().name()).isEqualTo("one");
  }

  @Test
  void shouldSayHowManyCopiesThereAre_andWhenTheyAreMade() {
    assertThat(config("--standbys", "2").placement().standbys()).isEqualTo(2);
    assertThat(config("--copy-delay", "120").placement().copyDelay())
        .isEqualTo(Duration.ofSeconds(120));
    assertThat(config("--full-replicas").placement())
        .isEqualTo(Placement.DEFAULT.everywhere())
        .isNotEqualTo(Placement.DEFAULT);
  }

  /** The environment says so, too: a flag of picocli's is the opposite of its default. */
  @Test
  void shouldHoldEverything_whenThatIsTheDefaultAsWell() {
    CommandLine line = new CommandLine(new ReplicaOptions());
    line.setDefaultValueProvider(
        of -> of instanceof OptionSpec flag && flag.longestName().equals(FULL) ? "true" : null);
    for (List<String> flags : List.of(List.<String>of(), List.of(FULL))) {
      line.parseArgs(flags.toArray(String[]::new));
      boolean everything = line.getCommandSpec().findOption(FULL).getValue();
      assertThat(everything).as("%s", flags).isTrue();
    }
  }

  @Test
  void shouldSayHowOldAnAnswerMayBe_andHowLongItGoesOn() {
    assertThat(config("--max-lag", "500").tolerance().maxLag()).isEqualTo(Duration.ofMillis(500));
    assertThat(options("--drain", "10").drain()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void shouldNameTheFlag_whenItCanNotBeUsed() {
    assertThatThrownBy(() -> config("--copy-delay", "86401"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("--copy-delay must be 0 to 86400 seconds, got 86401");
    assertThatThrownBy(() -> options("--drain", "-1").drain()).hasMessageContaining("--drain");
    assertThatThrownBy(() -> config("--standbys", "-1"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
