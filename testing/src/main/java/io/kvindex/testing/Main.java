// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing;

import io.kvindex.testing.chaos.ChaosCommand;
import io.kvindex.testing.drill.DrillCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The harnesses as one program, {@code testing/run.sh}. */
@Command(
    name = "testing/run.sh",
    description = "Breaks kvindex on purpose and judges what it answers meanwhile.",
    subcommands = {ChaosCommand.class, DrillCommand.class, CommandLine.HelpCommand.class},
    mixinStandardHelpOptions = true)
public final class Main {

  private Main() {}

  /** Runs one and exits with its code: 0 all right, 1 something was wrong, 2 wrong usage. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /** The command line as a whole, for tests and for {@link #main}. */
  public static CommandLine commandLine() {
    return io.kvindex.launcher.Main.commandLine(new Main());
  }
}
