// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.Stack;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Flags of {@code replay} that are gone, so that who gives one is told what to do instead. */
final class GoneReplayOptions {

  @Option(
      names = {"--app", "--anew"},
      hidden = true,
      arity = "0..1",
      parameterConsumer = Refusal.class)
  private String name = "";

  @Option(
      names = {"--swap", "--swap-wait", "--although-cut"},
      hidden = true,
      arity = "0..1",
      parameterConsumer = Refusal.class)
  private String swap = "";

  @Option(
      names = {"--standbys", "--full-replicas", "--rack"},
      hidden = true,
      arity = "0..1",
      parameterConsumer = Refusal.class)
  private String replicas = "";

  private static final class Refusal implements IParameterConsumer {
    @Override
    public void consumeParameters(Stack<String> rest, ArgSpec option, CommandSpec command) {
      throw new ParameterException(
          command.commandLine(), instead(((OptionSpec) option).names()[0]));
    }

    private static String instead(String first) {
      return switch (first) {
        case "--app" ->
            "--app and --anew are gone. --copy NAME names what is made; it is kept, and goes on when"
                + " it is started again. To begin anew, give another name, or delete its directory"
                + " and run kvindex forget --copy NAME";
        case "--swap" ->
            "--swap, --swap-wait and --although-cut are gone. The copy goes on serving at its own"
                + " --http-port: compare it with a replica (kvindex diff), have the load balancer"
                + " send routers there, then stop the replicas (docs/operations.md, \"Moving routers"
                + " to a rebuilt copy\")";
        default ->
            "--standbys, --full-replicas and --rack are gone: each process keeps a copy of all"
                + " tables, and needs no standby. Leave the flag out";
      };
    }
  }
}
