// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.testing.chaos.ChaosOptions.Oddities;
import io.kvindex.testing.chaos.ChaosOptions.Shape;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

class ChaosSeedsTest {

  @TempDir private Path directory;

  private final StringWriter out = new StringWriter();

  @Test
  void shouldGoOnAndSayWhichFailed_whenARunBreaksOff() throws Exception {
    Files.createDirectories(ChaosSeeds.of(directory, 3).resolve("chaos.log"));
    Files.createDirectories(ChaosSeeds.of(directory, 4).resolve("chaos.log"));
    PrintWriter writer = new PrintWriter(out, true);
    ChaosSeeds seeds =
        new ChaosSeeds(directory, Duration.ofSeconds(1), Shape.REDUCED, Oddities.NONE, writer);

    assertThat(seeds.run(List.of(3L, 4L))).isFalse();

    assertThat(out.toString())
        .contains("1 of 2: seed 3 FAILED (broke off: ", "2 of 2: seed 4 FAILED")
        .contains("2 seeds, 2 FAILED; outputs in " + directory)
        .containsPattern("(?m)^ +3  1 WRONG .* 0$");
    assertThat(directory.resolve("seed-3.txt")).content().contains("chaos.log");
    assertThat(ChaosSeeds.of(directory, 3)).exists();
  }

  @Test
  void shouldTakeRangesAndSingleSeeds() {
    SeedRange.Converter converter = new SeedRange.Converter();
    assertThat(converter.convert("7-9").seeds()).containsExactly(7L, 8L, 9L);
    assertThat(converter.convert("7").seeds()).containsExactly(7L);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "-3", "3-", "9-7", "1-1001", "1-2-3"})
  void shouldRefuse_whenSeedsAreNoRange(String value) {
    assertThatThrownBy(() -> new SeedRange.Converter().convert(value))
        .isInstanceOf(TypeConversionException.class);
  }

  @Test
  void shouldRefuse_whenDirectoryHoldsAnEarlierRun() throws Exception {
    Files.createDirectories(ChaosSeeds.of(directory, 2));
    CommandLine command = new CommandLine(new ChaosCommand());
    command.setCaseInsensitiveEnumValuesAllowed(true).setErr(new PrintWriter(out, true));
    assertThat(command.execute("--seeds", "1-2", "--dir", directory.toString())).isEqualTo(2);
    assertThat(out.toString()).contains("seed-2 is there already");
    assertThat(command.execute("--seeds", "1-2", "--seed", "1")).isEqualTo(2);
  }
}
