// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.Stack;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Flags that made a rebuild the table of all replicas: refused with what is done instead. */
final class GoneSwapOptions {

  @Option(
      names = {"--swap", "--swap-wait", "--although-cut"},
      hidden = true,
      arity = "0..1",
      parameterConsumer = Refusal.class)
  private String gone = "";

  private static final class Refusal implements IParameterConsumer {
    @Override
    public void consumeParameters(Stack<String> rest, ArgSpec option, CommandSpec command) {
      throw new ParameterException(
          command.commandLine(),
          "--swap, --swap-wait and --although-cut are gone. A rebuild goes on serving at its own"
              + " --http-port: compare it with a replica (kvindex diff), have the load balancer send"
              + " routers there, then stop the replicas (docs/operations.md, \"Moving routers to a"
              + " rebuild\")");
    }
  }
}
