// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

import io.kvindex.launcher.client.IngestCommand;
import io.kvindex.launcher.client.QuarantineCommand;
import io.kvindex.launcher.client.QueryCommand;
import io.kvindex.launcher.client.RegisterCommand;
import io.kvindex.launcher.client.TapCommand;
import io.kvindex.launcher.client.UnregisterCommand;
import io.kvindex.launcher.client.WorkersCommand;
import io.kvindex.launcher.demo.DemoCommand;
import io.kvindex.launcher.process.AllCommand;
import io.kvindex.launcher.process.BackupCommand;
import io.kvindex.launcher.process.BridgeCommand;
import io.kvindex.launcher.process.BrokerCommand;
import io.kvindex.launcher.process.ForgetCommand;
import io.kvindex.launcher.process.Gone;
import io.kvindex.launcher.process.IndexCommand;
import io.kvindex.launcher.process.QueryAtCommand;
import io.kvindex.launcher.process.RepairCommand;
import io.kvindex.launcher.process.ReplayCommand;
import io.kvindex.launcher.rewind.DiffCommand;
import io.kvindex.model.chaos.Protection;
import java.io.PrintWriter;
import java.security.Security;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The one program: every process of kvindex and its command-line clients are subcommands. */
@Command(
    name = "kvindex",
    description = {
      "Knows which engine instance already holds the longest cached prefix of a prompt.",
      "",
      "Try it:       kvindex demo",
      "Run it:       kvindex all --http-port 13333 --data-dir ./kvindex-data",
      "Follow a vLLM: kvindex register --instance vllm-1 --model llama --block-size 16 \\",
      "                 --endpoint tcp://127.0.0.1:5557 --replay-endpoint tcp://127.0.0.1:5558",
      "Ask it:       kvindex query --model llama --block-size 16 --tokens 1,2,3,4,...",
      ""
    },
    subcommands = {
      DemoCommand.class,
      AllCommand.class,
      BrokerCommand.class,
      BridgeCommand.class,
      IndexCommand.class,
      RegisterCommand.class,
      UnregisterCommand.class,
      TapCommand.class,
      IngestCommand.class,
      QueryCommand.class,
      WorkersCommand.class,
      QuarantineCommand.class,
      BackupCommand.class,
      RepairCommand.class,
      ReplayCommand.class,
      ForgetCommand.class,
      QueryAtCommand.class,
      DiffCommand.class,
      CommandLine.HelpCommand.class
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false)
public final class Main implements Runnable {

  private static final Logger LOG = LoggerFactory.getLogger(Main.class);

  private static final int USAGE_WIDTH = 110;

  private static final String ADDRESSES_KEPT = "networkaddress.cache.ttl";
  private static final String NO_ADDRESSES_KEPT = "networkaddress.cache.negative.ttl";

  @Spec private CommandSpec spec;

  /** Runs one command and exits with its code: 0 done, 1 failed, 2 wrong usage. */
  public static void main(String[] args) {
    Protection without = Protection.without();
    if (without != null) {
      LOG.warn(
          "THIS PROCESS GIVES WRONG ANSWERS: {}={} is for tests of the chaos suite only",
          Protection.PROPERTY,
          without.wireName());
    }
    forgetAddressesSoon(Security::getProperty, Security::setProperty);
    System.exit(commandLine().execute(args));
  }

  /**
   * A replica that comes back elsewhere, as a pod does, has its name and another address: Java
   * would go on with the former one for 30 s, and for 10 s with there being none (JDK 17, {@code
   * java.security}). What the site's own {@code java.security} says stays.
   *
   * @param said what is said of a setting, null = nothing
   * @param say says something of it
   */
  static void forgetAddressesSoon(
      Function<String, @Nullable String> said, BiConsumer<String, String> say) {
    if (said.apply(ADDRESSES_KEPT) == null) {
      say.accept(ADDRESSES_KEPT, "1");
    }
    if ("10".equals(said.apply(NO_ADDRESSES_KEPT))) {
      say.accept(NO_ADDRESSES_KEPT, "1");
    }
  }

  /** The command line as a whole, for tests and for {@link #main}. */
  public static CommandLine commandLine() {
    return commandLine(new Main());
  }

  /**
   * One that says what is wrong as this one does.
   *
   * @param command of picocli
   */
  public static CommandLine commandLine(Object command) {
    return new CommandLine(command)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setUsageHelpWidth(USAGE_WIDTH)
        .setParameterExceptionHandler(Main::wrongUsage)
        .setExecutionExceptionHandler(shortMessages());
  }

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }

  /** What is wrong, the last thing on the screen: the whole usage would push it off. */
  private static int wrongUsage(CommandLine.ParameterException problem, String[] arguments) {
    CommandLine commandLine = problem.getCommandLine();
    PrintWriter err = commandLine.getErr();
    String command = commandLine.getCommandSpec().qualifiedName();
    String instead = instead(problem);
    err.println(command + ": " + (instead == null ? problem.getMessage() : instead));
    if (instead == null) {
      CommandLine.UnmatchedArgumentException.printSuggestions(problem, err);
    }
    err.println("Try '" + command + " --help'.");
    return CommandLine.ExitCode.USAGE;
  }

  private static @Nullable String instead(CommandLine.ParameterException problem) {
    return problem instanceof CommandLine.UnmatchedArgumentException unknown
        ? Gone.instead(unknown.getCommandLine().getCommandName(), unknown.getUnmatched().get(0))
        : null;
  }

  /** People get one line that says what to do; the stack goes to the log at level DEBUG. */
  private static IExecutionExceptionHandler shortMessages() {
    return (exception, commandLine, parsed) -> {
      String command = commandLine.getCommandSpec().qualifiedName();
      commandLine.getErr().println(command + ": " + text(exception));
      LOG.debug("command failed", exception);
      return CommandLine.ExitCode.SOFTWARE;
    };
  }

  /** With the reason that lies beneath: "Failed to construct kafka consumer" alone helps nobody. */
  static String text(Throwable problem) {
    String text = problem.getMessage() == null ? problem.toString() : problem.getMessage();
    Throwable cause = problem.getCause();
    String reason = cause == null ? "" : text(cause);
    return text.contains(reason) ? text : text + ": " + reason;
  }
}
