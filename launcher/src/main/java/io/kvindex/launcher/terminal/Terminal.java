// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.terminal;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Whether somebody looks on. */
final class Terminal {

  private Terminal() {}

  /** Whether both outputs go to a terminal: a bar beside piped results spoils what reads them. */
  static boolean isThere() {
    Path own = Path.of("/proc/self/fd");
    return Files.isDirectory(own)
        ? isTerminal(own.resolve("1")) && isTerminal(own.resolve("2"))
        : isInteractive(System.console());
  }

  /**
   * Whether an open file is one, by what Linux says it is.
   *
   * @param link in {@code /proc/self/fd}
   */
  static boolean isTerminal(Path link) {
    try {
      String target = Files.readSymbolicLink(link).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /** Since Java 22 there is a console without a terminal too, which says so. */
  private static boolean isInteractive(@Nullable Console console) {
    try {
      return console != null
          && (Runtime.version().feature() < 22
              || (boolean) Console.class.getMethod("isTerminal").invoke(console));
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }
}
