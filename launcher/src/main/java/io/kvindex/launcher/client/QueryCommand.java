// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Asks which instance holds how much of a prompt. */
@Command(
    name = "query",
    description = "Asks which instance holds how much of a prompt, best one first.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class QueryCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ApiClient api;
  @Mixin private PromptOptions prompt;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ObjectNode body = prompt.body();
    prompt.print(
        api.post("/query", body), body.path("token_ids").size(), spec.commandLine().getOut());
    return 0;
  }
}
