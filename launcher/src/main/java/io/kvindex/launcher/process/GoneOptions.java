// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

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

  private static final class Refusal implements IParameterConsumer {
    @Override
    public void consumeParameters(Stack<String> rest, ArgSpec option, CommandSpec command) {
      throw new ParameterException(
          command.commandLine(),
          "--standbys, --full-replicas, --copy-delay, --rack and --instance-name are gone: each"
              + " process keeps a copy of all tables, and needs no standby. Leave the flag out;"
              + " --copy NAME says which processes share one copy (docs/operations.md, \"Copies\")");
    }
  }
}
