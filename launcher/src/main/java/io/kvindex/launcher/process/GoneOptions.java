// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.List;
import java.util.Map;
import java.util.Stack;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Flags of an indexer that are gone, so that who gives one is told what to do instead. */
final class GoneOptions {

  @Option(
      names = {"--standbys", "--full-replicas", "--copy-delay", "--rack", "--instance-name"},
      hidden = true,
      arity = "0..1",
      parameterConsumer = Refusal.class)
  private String gone = "";

  private static final List<String> VARIABLES =
      List.of(
          "KVINDEX_STANDBYS",
          "KVINDEX_FULL_REPLICAS",
          "KVINDEX_COPY_DELAY",
          "KVINDEX_RACK",
          "KVINDEX_INSTANCE_NAME");

  private static final String FLAGS =
      "--standbys, --full-replicas, --copy-delay, --rack, --instance-name";

  private static final String INSTEAD =
      " are gone: each process keeps a copy of all tables, and needs no standby. Leave them out;"
          + " --copy NAME names this one's (docs/operations.md, \"Copies\")";

  /**
   * Refuses the same where the environment says it.
   *
   * @throws IllegalArgumentException if one of the variables is set
   */
  static void check(Map<String, String> environment) {
    for (String name : VARIABLES) {
      if (!environment.getOrDefault(name, "").isBlank()) {
        throw new IllegalArgumentException(name + " and " + FLAGS + INSTEAD);
      }
    }
  }

  private static final class Refusal implements IParameterConsumer {
    @Override
    public void consumeParameters(Stack<String> rest, ArgSpec option, CommandSpec command) {
      throw new ParameterException(command.commandLine(), FLAGS + INSTEAD);
    }
  }
}
