// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.client.PromptOptions;
import io.kvindex.launcher.rewind.PastQuery;
import io.kvindex.launcher.rewind.ReplayFrom;
import io.kvindex.query.OfflineQuery;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Asks what {@code /query} would have said at a moment. */
@Command(
    name = "query-at",
    description = {
      "Says what /query would have said at a moment, from the events topic alone; asks no server.",
      "",
      "Reads the partition of that table from its oldest record on, and writes nothing to Kafka. Progress, and what is",
      "not known, go to the error output.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class QueryAtCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "TIME",
      description = "The moment, as 2026-11-21T10:15:30Z; by the broker's clock.")
  private String time;

  @Mixin private PromptOptions prompt;
  @Mixin private KafkaOptions cluster;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Instant when = ReplayFrom.time(time);
    ObjectNode body = prompt.body();
    PrintWriter notes = spec.commandLine().getErr();
    ObjectMapper json = new ObjectMapper();
    OfflineQuery.Answer answer =
        new PastQuery(cluster.kafka(), notes)
            .ask(
                when,
                new PastQuery.Table(prompt.tenant(), prompt.model(), prompt.blockSize()),
                json.writeValueAsBytes(body));
    if (answer.degraded() != null) {
      notes.println("degraded, so not to be trusted: " + answer.degraded());
      notes.flush();
    }
    prompt.print(
        json.readTree(answer.body()), body.path("token_ids").size(), spec.commandLine().getOut());
    return 0;
  }
}
