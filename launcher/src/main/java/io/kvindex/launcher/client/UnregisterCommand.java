// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Stops following an engine. */
@Command(
    name = "unregister",
    description = "Stops following an engine; its blocks disappear from answers at once.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class UnregisterCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ApiClient api;
  @Mixin private PublisherOptions publisher;

  @Override
  public Integer call() throws IOException, InterruptedException {
    JsonNode answer = api.post("/unregister", publisher.toJson());
    for (JsonNode removed : answer.path("removed_instances")) {
      spec.commandLine().getOut().println(removed.asText() + ": " + answer.path("status").asText());
    }
    return 0;
  }
}
