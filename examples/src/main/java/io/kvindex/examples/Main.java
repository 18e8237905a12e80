// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples;

import io.kvindex.examples.engine.EnginesCommand;
import io.kvindex.examples.proxy.ProxyCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The examples that are programs. */
@Command(
    name = "examples/run",
    description = "Examples of kvindex at work; examples/README.md shows them together.",
    subcommands = {ProxyCommand.class, EnginesCommand.class, CommandLine.HelpCommand.class},
    mixinStandardHelpOptions = true)
public final class Main implements Runnable {

  @Spec private CommandSpec spec;

  /** Runs one command and exits with its code: 0 done, 1 failed, 2 wrong usage. */
  public static void main(String[] args) {
    // The JDK's HTTP server otherwise waits for acknowledgements between the pieces of a stream.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    System.exit(new CommandLine(new Main()).setUsageHelpWidth(110).execute(args));
  }

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }
}
