// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.launcher.Main;
import io.kvindex.model.hash.HashProfile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class AllCommandTest {

  @Test
  void shouldListenWhereTheFlagSays_whichHasTwoNames() {
    for (String flag : new String[] {"--port", "--http-port"}) {
      CommandLine command =
          new CommandLine(new AllCommand()).setCaseInsensitiveEnumValuesAllowed(true);
      assertThat(command.parseArgs(flag, "8090").<Integer>matchedOptionValue("--port", 0))
          .isEqualTo(8_090);
    }
    assertThat(ConductorConfig.NONE.httpPort()).as("where no flag is").isEqualTo(13_333);
  }

  @Test
  void shouldUseTheStandardSeed_whenConductorSeedIsUnsetOrBlank() {
    assertThat(AllCommand.defaultProfile(Map.of())).isEqualTo(HashProfile.XXH3_DEFAULT);
    assertThat(AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", " ")))
        .isEqualTo(HashProfile.XXH3_DEFAULT);
  }

  @Test
  void shouldUseTheGivenSeed_whenConductorSeedIsANumber() {
    assertThat(AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", "7")).xxh3Seed()).isEqualTo(7);
    assertThat(
            AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", "18446744073709551615")).xxh3Seed())
        .isEqualTo(-1);
    assertThat(AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", " -7 ")).xxh3Seed())
        .isEqualTo(-7);
  }

  @ParameterizedTest
  @ValueSource(strings = {"abc", "1.5", "0x10", "18446744073709551616", "-9223372036854775809"})
  void shouldSayWhatIsWrong_whenConductorSeedIsNoNumber(String seed) {
    assertThatThrownBy(() -> AllCommand.defaultProfile(Map.of("CONDUCTOR_SEED", seed)))
        .hasMessage("CONDUCTOR_SEED must be an integer of 64 bits, got " + seed);
  }

  @Test
  void shouldExitWith1_whenTheConfigurationFileIsMalformed(@TempDir Path directory)
      throws IOException {
    Path file = Files.writeString(directory.resolve("conductor_config.json"), "{\"kvevent_inst");
    for (String command : List.of("all", "index")) {
      StringWriter told = new StringWriter();
      CommandLine program = Main.commandLine().setErr(new PrintWriter(told));
      assertThat(program.execute(command, "--config", file.toString())).isEqualTo(1);
      assertThat(told.toString())
          .startsWith("kvindex " + command + ": " + file + " can not be read as JSON");
    }
  }
}
