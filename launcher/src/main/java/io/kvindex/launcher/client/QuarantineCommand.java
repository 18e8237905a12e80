// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Batches nobody could decode: what they are, and another try. */
@Command(
    name = "quarantine",
    description = "Shows batches that could not be decoded, and tries again.",
    subcommands = {QuarantineCommand.ListCommand.class, QuarantineCommand.RetryCommand.class},
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class QuarantineCommand implements Runnable {

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }

  /** Lists them. */
  @Command(
      name = "list",
      description = {
        "Lists the newest batches in quarantine.",
        "'readable' says whether this version of kvindex can decode them; only batches of a",
        "publisher's present life ('now') are missing from answers."
      },
      mixinStandardHelpOptions = true,
      sortOptions = false)
  static final class ListCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;
    @Mixin private ApiClient api;

    @Option(
        names = "--publisher",
        paramLabel = "INSTANCE",
        description = "Only batches of this instance.")
    private String instance;

    @Option(
        names = "--limit",
        paramLabel = "N",
        description = "Most batches shown (default: ${DEFAULT-VALUE}).",
        defaultValue = "100")
    private int limit;

    @Option(names = "--json", description = "Print the server's answer as it is.")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
      String path = "/quarantine?limit=" + limit;
      if (instance != null) {
        path += "&instance_id=" + URLEncoder.encode(instance, StandardCharsets.UTF_8);
      }
      JsonNode frames = api.get(path);
      PrintWriter out = spec.commandLine().getOut();
      if (json) {
        out.println(ApiClient.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(frames));
      } else if (frames.isEmpty()) {
        out.println("nothing in quarantine");
      } else {
        out.printf(
            "%-27s %-24s %4s %12s %8s %-6s %-8s %s%n",
            "time", "instance", "rank", "sequence", "bytes", "life", "readable", "reason");
        frames.forEach(frame -> print(out, frame));
      }
      return 0;
    }

    private static void print(PrintWriter out, JsonNode frame) {
      String readable =
          !frame.has("readable") ? "?" : frame.path("readable").asBoolean() ? "yes" : "no";
      out.printf(
          "%-27s %-24s %4s %12s %8s %-6s %-8s %s%n",
          frame.path("time").asText(),
          frame.path("instance_id").asText(),
          frame.path("dp_rank").asText(),
          frame.path("sequence").asText(),
          frame.path("length").asText(),
          frame.path("current").asBoolean() ? "now" : "former",
          readable,
          frame.path("reason").asText());
    }
  }

  /** Tries again. */
  @Command(
      name = "retry",
      description = {
        "Decodes quarantined batches again.",
        "A publisher of which one can be read now is rebuilt from the engine's replay:",
        "what it announced is hidden and learnt anew, from batch 0 on.",
        "Where the replay does not reach back to batch 0 the publisher stays degraded, and older",
        "blocks are missing from answers. A publisher without a replay_endpoint (every Mooncake",
        "Store) is left as it is: nothing would come back."
      },
      mixinStandardHelpOptions = true,
      sortOptions = false)
  static final class RetryCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;
    @Mixin private ApiClient api;

    @Parameters(paramLabel = "INSTANCE", arity = "0..1", description = "Publisher to retry.")
    private String instance;

    @Option(
        names = "--tenant",
        paramLabel = "ID",
        description = "Its tenant (default: ${DEFAULT-VALUE}).",
        defaultValue = "default")
    private String tenant;

    @Option(
        names = "--dp-rank",
        paramLabel = "N",
        description = "Its rank (default: ${DEFAULT-VALUE}).",
        defaultValue = "0")
    private int rank;

    @Option(names = "--all", description = "All publishers.")
    private boolean all;

    @Option(
        names = "--force",
        description =
            "Rebuild publishers of which nothing can be read, too: what was damaged on its way the engine has whole."
                + " One without a replay_endpoint loses all that is known of it.")
    private boolean force;

    @Override
    public Integer call() throws IOException, InterruptedException {
      if (all == (instance != null)) {
        throw new ParameterException(spec.commandLine(), "say either INSTANCE or --all");
      }
      JsonNode retried =
          api.post(
              "/quarantine/retry?all=" + all + "&force=" + force,
              ApiClient.JSON
                  .createObjectNode()
                  .put("instance_id", instance)
                  .put("tenant_id", tenant)
                  .put("dp_rank", rank));
      PrintWriter out = spec.commandLine().getOut();
      if (retried.isEmpty()) {
        throw new IOException("no such publisher is registered");
      }
      for (JsonNode one : retried) {
        if (!all || one.path("frames").asLong() > 0) {
          out.printf(
              "%s rank %s: %s in quarantine, %s: %s%n",
              one.path("instance_id").asText(),
              one.path("dp_rank").asText(),
              one.path("frames").asText(),
              one.path("readable").asBoolean() ? "readable now" : "none readable",
              one.path("note").asText());
        }
      }
      return 0;
    }
  }
}
