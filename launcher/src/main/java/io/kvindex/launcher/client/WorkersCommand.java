// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the engines kvindex follows and how they are. */
@Command(
    name = "workers",
    description = "Lists the engines kvindex follows and how they are.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class WorkersCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ApiClient api;

  @Option(names = "--json", description = "Print the server's answer as it is.")
  private boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    JsonNode workers = api.get("/workers");
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(ApiClient.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(workers));
      return 0;
    }
    out.printf("%-24s %-16s %4s %-10s %s%n", "instance", "model", "rank", "state", "endpoint");
    for (JsonNode worker : workers) {
      for (Map.Entry<String, JsonNode> listener : worker.path("listeners").properties()) {
        print(out, worker, listener);
      }
    }
    return 0;
  }

  private static void print(
      PrintWriter out, JsonNode worker, Map.Entry<String, JsonNode> listener) {
    JsonNode state = listener.getValue();
    String error =
        state.hasNonNull("last_error") ? "  (" + state.get("last_error").asText() + ")" : "";
    out.printf(
        "%-24s %-16s %4s %-10s %s%s%n",
        worker.path("instance_id").asText(),
        worker.path("model_name").asText(),
        listener.getKey(),
        // Its status is of Dynamo's four values only: that of one that replays is "pending".
        state.path("state").asText(state.path("status").asText()),
        state.path("endpoint").asText(),
        error);
  }
}
