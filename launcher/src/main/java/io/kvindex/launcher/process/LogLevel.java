// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import ch.qos.logback.classic.Level;
import ch.qos.logback.core.PropertyDefinerBase;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Level of our own log lines, from {@code KVINDEX_LOG_LEVEL} or Mooncake Conductor's {@code
 * CONDUCTOR_LOG_LEVEL}: any case, INFO if absent or no level. Logback by itself takes what is no
 * level for DEBUG.
 */
public final class LogLevel extends PropertyDefinerBase {

  private static final String OWN = "KVINDEX_LOG_LEVEL";
  private static final String CONDUCTOR = "CONDUCTOR_LOG_LEVEL";

  @Override
  public String getPropertyValue() {
    return of(name -> System.getProperty(name, System.getenv(name)));
  }

  static String of(Function<String, @Nullable String> settings) {
    for (String name : new String[] {OWN, CONDUCTOR}) {
      String text = settings.apply(name);
      if (text == null || text.isBlank()) {
        continue;
      }
      String wanted = text.strip().toUpperCase(Locale.ROOT);
      Level level = Level.toLevel(wanted.equals("WARNING") ? "WARN" : wanted, null);
      if (level != null) {
        return level.levelStr;
      }
      // There is no log yet to say it in.
      System.err.println(name + "=" + text + " is not DEBUG, INFO, WARN or ERROR; INFO is used");
      return Level.INFO.levelStr;
    }
    return Level.INFO.levelStr;
  }
}
