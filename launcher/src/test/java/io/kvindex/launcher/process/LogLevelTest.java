// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogLevelTest {

  @ParameterizedTest
  @CsvSource({
    ", , INFO",
    ", DEBUG, DEBUG",
    ", debug, DEBUG",
    ", Info, INFO",
    ", warn, WARN",
    ", WARNING, WARN",
    ", ' error ', ERROR",
    ", verbose, INFO",
    ", '', INFO",
    "trace, ERROR, TRACE",
    "'', ERROR, ERROR",
  })
  void shouldReadTheLevel_whateverItsCase(
      @Nullable String own, @Nullable String conductor, String level) {
    Map<String, @Nullable String> environment = new HashMap<>();
    environment.put("KVINDEX_LOG_LEVEL", own);
    environment.put("CONDUCTOR_LOG_LEVEL", conductor);
    assertThat(LogLevel.of(environment::get)).isEqualTo(level);
  }

  @Test
  void shouldSetTheLevelOfOurLinesOnly_whenLogbackIsConfigured() throws Exception {
    String before = System.setProperty("CONDUCTOR_LOG_LEVEL", "error");
    try {
      LoggerContext context = new LoggerContext();
      JoranConfigurator configurator = new JoranConfigurator();
      configurator.setContext(context);
      configurator.doConfigure(Path.of("src/main/resources/logback.xml").toFile());
      assertThat(context.getLogger("io.kvindex.launcher.Main").getEffectiveLevel())
          .isEqualTo(Level.ERROR);
      assertThat(context.getLogger("org.apache.kafka.clients").getEffectiveLevel())
          .isEqualTo(Level.WARN);
      context.stop();
    } finally {
      if (before == null) {
        System.clearProperty("CONDUCTOR_LOG_LEVEL");
      }
    }
  }
}
